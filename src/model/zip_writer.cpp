#include "model/zip_writer.hpp"

#include <limits>
#include <zlib.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint16_t kVersion = 20;             // of the format: 2.0
constexpr std::uint16_t kFirstDay = (1 << 5) | 1;  // 1 January 1980
constexpr std::uint16_t kPaddingId = 0x4246;       // "FB": the extra field that torch pads with

/// Little-endian fields, one after the other.
class Fields {
 public:
  Fields& u16(std::uint64_t value) { return number(static_cast<std::uint16_t>(value)); }
  Fields& u32(std::uint64_t value) { return number(static_cast<std::uint32_t>(value)); }
  Fields& text(std::string_view value) {
    bytes_.append(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  Fields& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  std::string bytes_;
};

/// What the local header and the directory have in common.
void put_common(Fields& fields, std::uint32_t checksum, std::uint64_t size, std::size_t name_size) {
  constexpr std::uint16_t kFlags = 0;
  constexpr std::uint16_t kStored = 0;
  constexpr std::uint16_t kMidnight = 0;
  fields.u16(kVersion).u16(kFlags).u16(kStored).u16(kMidnight).u16(kFirstDay);
  fields.u32(checksum).u32(size).u32(size).u16(name_size);
}

std::string local_header(const std::string& name, std::uint64_t at, std::uint32_t checksum,
                         std::uint64_t size) {
  constexpr std::uint64_t kFixed = 30;
  constexpr std::uint64_t kPaddingHead = 4;
  const std::uint64_t unpadded = at + kFixed + name.size() + kPaddingHead;
  const std::uint64_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
  Fields fields;
  fields.u32(0x04034b50);
  put_common(fields, checksum, size, name.size());
  fields.u16(kPaddingHead + padding).text(name);
  fields.u16(kPaddingId).u16(padding).text(std::string(padding, 'Z'));
  return fields.bytes();
}

std::string directory_entry(const std::string& name, std::uint64_t at, std::uint32_t checksum,
                            std::uint64_t size) {
  Fields fields;
  fields.u32(0x02014b50).u16(kVersion);
  put_common(fields, checksum, size, name.size());
  fields.u16(0).u16(0).u16(0).u16(0).u32(0);  // extra, comment, disk, attributes
  fields.u32(at).text(name);
  return fields.bytes();
}

}  // namespace

void ZipWriter::check_size() const {
  if (file_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw usage_error(fmt::format("{}: larger than 4 GiB, too large for this zip", path_.string()),
                      "choose --format safetensors");
  }
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
  add(name, [bytes](const ByteSink& sink) { sink(std::as_bytes(std::span(bytes))); });
}

void ZipWriter::add(const std::string& name, const std::function<void(const ByteSink&)>& produce) {
  const std::uint64_t at = file_.size();
  file_.write(local_header(name, at, 0, 0));  // its checksum and size follow
  const std::uint64_t begin = file_.size();
  uLong checksum = crc32(0, nullptr, 0);
  produce([&](std::span<const std::byte> bytes) {
    checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    file_.write(bytes);
  });
  check_size();
  const auto sum = static_cast<std::uint32_t>(checksum);
  const std::uint64_t size = file_.size() - begin;
  const std::string header = local_header(name, at, sum, size);
  file_.write_at(at, std::as_bytes(std::span(header)));
  directory_ += directory_entry(name, at, sum, size);
  ++entries_;
}

void ZipWriter::commit() {
  const std::uint64_t at = file_.size();
  file_.write(directory_);
  check_size();
  Fields end;
  end.u32(0x06054b50).u16(0).u16(0).u16(entries_).u16(entries_);
  end.u32(directory_.size()).u32(at).u16(0);
  file_.write(end.bytes());
  file_.commit();
}

}  // namespace drift
