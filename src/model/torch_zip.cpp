#include <algorithm>
#include <map>
#include <zip.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"

#include "model/shown.hpp"
#include "model/state_dict.hpp"
#include "model/torch_file.hpp"

namespace drift {
namespace {

constexpr std::uint64_t kMaxPickle = std::uint64_t{64} << 20;
constexpr const char* kDamaged = "the file looks truncated or damaged; fetch or copy it again";

/// One entry of a zip.
struct Entry {
  zip_uint64_t index = 0;
  std::uint64_t size = 0;
};

/// An open zip. Entries are inflated, and their checksums verified, by libzip.
class Archive {
 public:
  explicit Archive(const fs::path& file) : file_(file), file_bytes_(fs::file_size(file)) {
    int error = 0;
    zip_ = zip_open(file.c_str(), ZIP_RDONLY, &error);
    if (zip_ == nullptr) {
      zip_error_t why;
      zip_error_init_with_code(&why, error);
      const std::string text = zip_error_strerror(&why);
      zip_error_fini(&why);
      throw usage_error(fmt::format("{}: begins like a zip, but: {}", file.string(), text),
                        kDamaged);
    }
    try {
      read_names();
    } catch (...) {
      zip_discard(zip_);
      throw;
    }
  }
  ~Archive() { zip_discard(zip_); }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  [[noreturn]] void fail(const std::string& what, const char* hint = kDamaged) const {
    throw usage_error(fmt::format("{}: {}", file_.string(), what), hint);
  }

  void keep(std::shared_ptr<const void> bytes) const { kept_ = std::move(bytes); }
  const fs::path& file() const { return file_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }

  std::vector<std::byte> read(const std::string& name, const Entry& entry) const {
    std::vector<std::byte> bytes(entry.size);
    zip_file_t* stream = zip_fopen_index(zip_, entry.index, 0);
    if (stream == nullptr) {
      fail(fmt::format("\"{}\": {}", shown(name), zip_error_strerror(zip_get_error(zip_))));
    }
    constexpr std::uint64_t kChunk = std::uint64_t{8} << 20;
    std::string problem;
    for (std::uint64_t at = 0; problem.empty() && at < entry.size;) {
      const zip_int64_t n = zip_fread(stream, bytes.data() + at, std::min(kChunk, entry.size - at));
      if (n <= 0) {
        problem = n < 0 ? zip_error_strerror(zip_file_get_error(stream)) : "ends early";
      } else {
        at += static_cast<std::uint64_t>(n);
      }
    }
    // The checksum is compared when the end is reached: by one more read.
    std::byte beyond{};
    if (problem.empty() && zip_fread(stream, &beyond, 1) != 0) {
      problem = "its bytes are not those that its checksum was made of";
    }
    zip_fclose(stream);
    throw_if_interrupted();
    if (!problem.empty()) {
      fail(fmt::format("\"{}\": {}", shown(name), problem));
    }
    return bytes;
  }

 private:
  void read_names() {
    const zip_int64_t count = zip_get_num_entries(zip_, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      zip_stat_t info;
      const auto index = static_cast<zip_uint64_t>(i);
      if (zip_stat_index(zip_, index, 0, &info) != 0 || (info.valid & ZIP_STAT_NAME) == 0 ||
          (info.valid & ZIP_STAT_SIZE) == 0) {
        fail("has an entry without a name or a size");
      }
      // A size is believed only as far as the file can hold it: deflate packs 1032 to 1 at best.
      if (info.size / 1032 > file_bytes_) {
        fail(fmt::format("\"{}\" says that it is {} bytes long, more than the file can hold",
                         shown(info.name), info.size));
      }
      if (!entries_.emplace(info.name, Entry{index, info.size}).second) {
        fail(fmt::format("\"{}\" is there twice", shown(info.name)));
      }
    }
  }

  fs::path file_;
  std::uint64_t file_bytes_;
  zip_t* zip_ = nullptr;
  std::map<std::string, Entry> entries_;
  mutable std::shared_ptr<const void> kept_;
};

/// One storage of the archive, read when it is asked for and dropped when the next one is (unless
/// it is still in use): a file may keep all its tensors in one storage, or one in each.
class ZipStorage : public Storage {
 public:
  ZipStorage(std::shared_ptr<const Archive> archive, std::string name, Entry entry)
      : archive_(std::move(archive)), name_(std::move(name)), entry_(entry) {}

  std::uint64_t size() const override { return entry_.size; }

  OwnedBytes load() const override {
    auto bytes = loaded_.lock();
    if (!bytes) {
      archive_->keep(nullptr);
      bytes = std::make_shared<const std::vector<std::byte>>(archive_->read(name_, entry_));
      loaded_ = bytes;
      archive_->keep(bytes);
    }
    return {*bytes, bytes};
  }

 private:
  std::shared_ptr<const Archive> archive_;
  std::string name_;
  Entry entry_;
  mutable std::weak_ptr<const std::vector<std::byte>> loaded_;
};

/// "archive/" of "archive/data.pkl": torch takes any name for the folder.
std::string archive_folder(const Archive& archive) {
  constexpr std::string_view kPickle = "/data.pkl";
  std::string folder;
  for (const auto& [name, entry] : archive.entries()) {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos && std::string_view(name).substr(slash) == kPickle) {
      if (!folder.empty()) {
        archive.fail("holds more than one data.pkl");
      }
      folder = name.substr(0, slash + 1);
    }
  }
  if (folder.empty()) {
    archive.fail("a zip without data.pkl, so not one that torch.save wrote",
                 "name a model's folder, or its model.safetensors or pytorch_model.bin");
  }
  return folder;
}

void check_byte_order(const Archive& archive, const std::string& name) {
  const auto found = archive.entries().find(name);
  if (found == archive.entries().end()) {
    return;  // torch before 2.0 doesn't write it
  }
  constexpr std::uint64_t kLongest = 6;  // "little"
  const auto bytes =
      found->second.size > kLongest ? std::vector<std::byte>() : archive.read(name, found->second);
  const std::string_view order(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (order == "big") {
    archive.fail("written on a big-endian machine", "convert it to safetensors there");
  }
  if (order != "little") {
    archive.fail(fmt::format("\"{}\" names an unknown byte order", name));
  }
}

StateDict read_data_pickle(const Archive& archive, const std::string& name) {
  const Entry& entry = archive.entries().at(name);
  if (entry.size > kMaxPickle) {
    archive.fail(fmt::format("\"{}\" is {} bytes long, more than a state dict's names need", name,
                             entry.size));
  }
  const auto bytes = archive.read(name, entry);
  StateDict state = read_state_dict(bytes, 0, fmt::format("{}: data.pkl", archive.file().string()));
  if (state.end != bytes.size()) {
    archive.fail(fmt::format("\"{}\" goes on behind its end", name));
  }
  return state;
}

}  // namespace

std::vector<StoredTensor> read_torch_zip(const fs::path& file) {
  const auto archive = std::make_shared<const Archive>(file);
  const std::string folder = archive_folder(*archive);
  check_byte_order(*archive, folder + "byteorder");
  const StateDict state = read_data_pickle(*archive, folder + "data.pkl");

  std::map<std::string, std::shared_ptr<const Storage>> storages;
  for (const auto& [key, named] : state.storages) {
    const std::string name = fmt::format("{}data/{}", folder, key);
    const auto found = archive->entries().find(name);
    const std::uint64_t size = named.elements * dtype_size(named.dtype);
    if (found == archive->entries().end()) {
      archive->fail(fmt::format("\"{}\", which a tensor needs, isn't there", shown(name)));
    }
    if (found->second.size != size) {
      archive->fail(fmt::format("\"{}\" has {} bytes, its tensors need {}", shown(name),
                                found->second.size, size));
    }
    storages[key] = std::make_shared<ZipStorage>(archive, name, found->second);
  }
  return stored_tensors(state, storages, file);
}

}  // namespace drift
