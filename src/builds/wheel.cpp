#include "builds/wheel.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"

namespace drift {
namespace {

/// A relative path that stays below the folder it is joined to.
bool safe_name(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string::npos) {
    return false;
  }
  for (const fs::path& part : fs::path(name)) {
    if (part == "..") {
      return false;
    }
  }
  return true;
}

bool is_symlink(zip_t* archive, std::uint64_t index) {
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  return ::zip_file_get_external_attributes(archive, index, 0, &system, &attributes) == 0 &&
         system == ZIP_OPSYS_UNIX && S_ISLNK(attributes >> 16U);
}

}  // namespace

struct Wheel::Archive {
  zip_t* zip = nullptr;

  ~Archive() { ::zip_discard(zip); }
};

Wheel::Wheel(const fs::path& path) : path_(path), archive_(std::make_unique<Archive>()) {
  int code = 0;
  archive_->zip = ::zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive_->zip == nullptr) {
    zip_error_t error;
    ::zip_error_init_with_code(&error, code);
    const std::string text = ::zip_error_strerror(&error);
    ::zip_error_fini(&error);
    throw trouble(fmt::format("{}: not a whole wheel: {}", path.string(), text));
  }
  const zip_int64_t count = ::zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t info;
    if (::zip_stat_index(archive_->zip, index, 0, &info) != 0 ||
        (info.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE)) {
      throw trouble(fmt::format("{}: entry {} has no name or size", path.string(), i));
    }
    const std::string name = info.name;
    if (!safe_name(name)) {
      throw trouble(fmt::format("{}: entry \"{}\" leads out of the wheel", path.string(), name),
                    "don't use this file");
    }
    if (is_symlink(archive_->zip, index)) {
      throw trouble(fmt::format("{}: entry \"{}\" is a symbolic link", path.string(), name),
                    "don't use this file");
    }
    if (name.back() != '/') {
      entries_.push_back({name, info.size, index});
    }
  }
}

Wheel::~Wheel() = default;
Wheel::Wheel(Wheel&&) noexcept = default;

void Wheel::read(const Entry& entry,
                 const std::function<void(const char*, std::size_t)>& piece) const {
  const auto damaged = [&](const std::string& how) {
    return trouble(fmt::format("{}: {}: {}", path_.string(), entry.name, how),
                   "the wheel is damaged; fetch it again");
  };
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      ::zip_fopen_index(archive_->zip, entry.index, 0), ::zip_fclose);
  if (file == nullptr) {
    throw damaged(::zip_strerror(archive_->zip));
  }
  std::array<char, 1 << 16> buffer{};
  std::uint64_t total = 0;
  for (;;) {
    throw_if_interrupted();
    const zip_int64_t n = ::zip_fread(file.get(), buffer.data(), buffer.size());
    if (n < 0) {
      throw damaged(::zip_file_strerror(file.get()));
    }
    if (n == 0) {
      break;
    }
    total += static_cast<std::uint64_t>(n);
    if (total > entry.size) {
      throw damaged(fmt::format("more than the {} bytes that it declares", entry.size));
    }
    piece(buffer.data(), static_cast<std::size_t>(n));
  }
  if (total != entry.size) {
    throw damaged(fmt::format("{} bytes, not the {} that it declares", total, entry.size));
  }
}

}  // namespace drift
