#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <set>
#include <span>
#include <unistd.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"

#include "builds/elf.hpp"
#include "builds/libraries.hpp"
#include "builds/wheel.hpp"

namespace drift {
namespace {

/// A new file; its bytes go to the disk and into a hash. Not synced one by one: there are some
/// 10,000 headers, and a file cut short by a crash is found by its recorded size.
class NewFile {
 public:
  explicit NewFile(const fs::path& path) : path_(path) {
    make_folders(path.parent_path());
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd_ < 0) {
      fail();
    }
  }
  ~NewFile() { ::close(fd_); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes) {
    hash_.update(bytes);
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) {
        continue;
      }
      if (n < 0) {
        fail();
      }
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  std::string sha256() { return hash_.hex(); }

 private:
  [[noreturn]] void fail() const {
    throw trouble(fmt::format("{}: can't be written: {}", path_.string(), std::strerror(errno)),
                  "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }

  fs::path path_;
  int fd_ = -1;
  Sha256 hash_;
};

constexpr std::string_view kTorchCpu = "torch/lib/libtorch_cpu.so";
constexpr std::string_view kC10 = "torch/lib/libc10.so";

bool is_text_part(const std::string& name) {
  return name.starts_with("torch/include/") || name == "torch/version.py" ||
         (name.starts_with("torch-") && name.ends_with(".dist-info/METADATA"));
}

std::string base_name(const std::string& name) { return name.substr(name.rfind('/') + 1); }

/// One unpacking under way.
class Unpacking {
 public:
  Unpacking(const std::vector<Wheel>& wheels, fs::path folder, Progress& progress)
      : wheels_(wheels), folder_(std::move(folder)), progress_(progress) {}

  std::vector<UnpackedFile> run() {
    const Wheel& torch = wheels_.at(0);
    for (const std::string_view root : {kTorchCpu, kC10}) {
      const auto& entries = torch.entries();
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const Wheel::Entry& e) { return e.name == root; });
      if (entry == entries.end()) {
        throw trouble(fmt::format("{}: no {} in it", torch.path().string(), root),
                      "is it a wheel of torch for Linux?");
      }
      take_library(torch, *entry);
    }
    take_needed_libraries();
    for (const Wheel::Entry& entry : torch.entries()) {
      if (is_text_part(entry.name)) {
        take(torch, entry, false);
      }
    }
    return std::move(files_);
  }

 private:
  void take(const Wheel& wheel, const Wheel::Entry& entry, bool library) {
    NewFile file(folder_ / entry.name);
    wheel.read(entry, [&](const char* bytes, std::size_t n) {
      file.write({bytes, n});
      done_ += n;
      progress_.update(done_);
    });
    files_.push_back({entry.name, entry.size, file.sha256(), library});
  }

  void take_library(const Wheel& wheel, const Wheel::Entry& entry) {
    seen_.insert(base_name(entry.name));
    take(wheel, entry, true);
    const ElfFile file = read_elf(folder_ / entry.name);
    if (file.machine != host_machine()) {
      throw trouble(fmt::format("{}: built for {}, and this machine is {}", wheel.path().string(),
                                file.machine, host_machine()),
                    fmt::format("use a wheel for {}", host_machine()));
    }
    wanted_.insert(wanted_.end(), file.needed.begin(), file.needed.end());
  }

  /// Libraries that no wheel has are the system's.
  void take_needed_libraries() {
    while (!wanted_.empty()) {
      const std::string name = wanted_.front();
      wanted_.pop_front();
      if (!is_base_library(name) && seen_.insert(name).second) {
        take_first(name);
      }
    }
  }

  void take_first(const std::string& name) {
    for (const Wheel& wheel : wheels_) {
      for (const Wheel::Entry& entry : wheel.entries()) {
        if (base_name(entry.name) == name) {
          take_library(wheel, entry);
          return;
        }
      }
    }
  }

  const std::vector<Wheel>& wheels_;
  fs::path folder_;
  Progress& progress_;
  std::uint64_t done_ = 0;
  std::set<std::string> seen_;
  std::deque<std::string> wanted_;
  std::vector<UnpackedFile> files_;
};

}  // namespace

std::uint64_t runner_parts_bytes(const std::vector<Wheel>& wheels) {
  std::uint64_t total = 0;
  for (const Wheel& wheel : wheels) {
    for (const Wheel::Entry& entry : wheel.entries()) {
      const std::string name = base_name(entry.name);
      // Which libraries are needed shows only once libtorch_cpu is unpacked: these are the usual.
      const bool library = entry.name == kTorchCpu || entry.name == kC10 ||
                           is_openmp_library(name) || name.starts_with("libcudart") ||
                           name.starts_with("libcupti");
      if (is_text_part(entry.name) || library) {
        if (entry.size > (std::uint64_t{1} << 40)) {
          throw trouble(fmt::format("{}: {}: declares {} bytes", wheel.path().string(), entry.name,
                                    entry.size));
        }
        total += entry.size;
      }
    }
  }
  return total;
}

std::vector<UnpackedFile> unpack_runner_parts(const std::vector<Wheel>& wheels,
                                              const fs::path& folder, Progress& progress) {
  return Unpacking(wheels, folder, progress).run();
}

}  // namespace drift
