#include "driftaudit/logits_file.hpp"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/zstd.hpp"

namespace drift {
namespace {

struct Header {
  std::array<char, 8> magic = {'D', 'R', 'I', 'F', 'T', 'L', 'G', '1'};
  std::uint32_t vocabulary = 0;
  std::uint32_t zero = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t entries = 0;
};
static_assert(sizeof(Header) == 32);

struct Entry {
  std::uint32_t run = 0;
  std::uint32_t step = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Entry) == 24);

constexpr const char* kDamaged = "the file looks damaged; record again with --keep-logits";

std::vector<std::byte> planes_of(Logits logits) {
  const auto bytes = std::as_bytes(logits);
  const std::size_t count = logits.size();
  std::vector<std::byte> planes(bytes.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t plane = 0; plane < sizeof(float); ++plane) {
      planes[plane * count + i] = bytes[i * sizeof(float) + plane];
    }
  }
  return planes;
}

std::vector<float> from_planes(std::string_view planes) {
  const std::size_t count = planes.size() / sizeof(float);
  std::vector<float> logits(count);
  const auto bytes = std::as_writable_bytes(std::span(logits));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t plane = 0; plane < sizeof(float); ++plane) {
      bytes[i * sizeof(float) + plane] = static_cast<std::byte>(planes[plane * count + i]);
    }
  }
  return logits;
}

}  // namespace

std::filesystem::path logits_path(const std::filesystem::path& report) {
  std::filesystem::path path = report;
  if (path.extension() == ".zst") {
    path.replace_extension();
  }
  return path.replace_extension(".logits");
}

struct LogitsWriter::State {
  State(const std::filesystem::path& to, std::uint32_t vocabulary) : path(to), file(to) {
    header.vocabulary = vocabulary;
    file.write(std::as_bytes(std::span(&header, 1)));
  }

  std::filesystem::path path;
  AtomicFile file;
  Header header;
  std::vector<Entry> index;
};

LogitsWriter::LogitsWriter(const std::filesystem::path& path, std::uint32_t vocabulary)
    : state_(std::make_unique<State>(path, vocabulary)) {}
LogitsWriter::~LogitsWriter() = default;

void LogitsWriter::add(std::uint32_t run, std::uint32_t step, Logits logits) {
  const std::string frame = zstd_compressed(planes_of(logits));
  state_->index.push_back({run, step, state_->file.size(), frame.size()});
  state_->file.write(frame);
}

LogitsRecord LogitsWriter::commit() {
  State& s = *state_;
  s.header.index_offset = s.file.size();
  s.header.entries = s.index.size();
  s.file.write(std::as_bytes(std::span(s.index)));
  s.file.write_at(0, std::as_bytes(std::span(&s.header, 1)));
  const std::uint64_t size = s.file.size();
  s.file.commit();
  return {s.path.filename().string(), size, sha256_file(s.path)};
}

struct LogitsFile::State {
  explicit State(const std::filesystem::path& path) : name(path.string()), file(path) {}

  Error damaged(const std::string& what) const {
    return usage_error(fmt::format("{}: {}", name, what), kDamaged);
  }

  void check(const LogitsRecord& record) const {
    if (file.bytes().size() == record.bytes && sha256_file(name) == record.sha256) {
      return;
    }
    throw usage_error(fmt::format("{}: not the file that its report was written with", name),
                      "keep both files of one recording together, or record again");
  }

  void read_index() {
    const auto bytes = file.bytes();
    if (bytes.size() < sizeof header) {
      throw damaged("too short for a logits file");
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != Header().magic || header.vocabulary < 2) {
      throw damaged("not a logits file");
    }
    const std::uint64_t left =
        bytes.size() - std::min<std::uint64_t>(header.index_offset, bytes.size());
    if (left % sizeof(Entry) != 0 || left / sizeof(Entry) != header.entries) {
      throw damaged("its index is not at the file's end");
    }
    for (std::uint64_t i = 0; i < header.entries; ++i) {
      Entry entry;
      std::memcpy(&entry, bytes.data() + header.index_offset + i * sizeof entry, sizeof entry);
      if (entry.offset > header.index_offset || entry.bytes > header.index_offset - entry.offset) {
        throw damaged(fmt::format("entry {} of its index points outside the file", i + 1));
      }
      if (!places.emplace(std::make_pair(entry.run, entry.step), entry).second) {
        throw damaged(fmt::format("run {}, step {} stands twice", entry.run, entry.step));
      }
    }
  }

  std::string name;
  MappedFile file;
  Header header;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Entry> places;
};

LogitsFile::LogitsFile(const std::filesystem::path& folder, const LogitsRecord& record)
    : state_(std::make_unique<State>(folder / record.file)) {
  state_->check(record);
  state_->read_index();
}
LogitsFile::~LogitsFile() = default;

std::uint32_t LogitsFile::vocabulary() const { return state_->header.vocabulary; }

bool LogitsFile::holds(std::uint32_t run, std::uint32_t step) const {
  return state_->places.contains({run, step});
}

std::vector<float> LogitsFile::logits(std::uint32_t run, std::uint32_t step,
                                      const std::string& digest) const {
  const auto at = state_->places.find({run, step});
  if (at == state_->places.end()) {
    throw state_->damaged(fmt::format("holds no logits of run {}, step {}", run, step));
  }
  const Entry& entry = at->second;
  const std::uint64_t bytes = std::uint64_t{vocabulary()} * sizeof(float);
  const std::string planes = zstd_decompressed(
      state_->file.bytes().subspan(entry.offset, entry.bytes), bytes, state_->name);
  std::vector<float> logits;
  if (planes.size() == bytes) {
    logits = from_planes(planes);
  }
  if (logits.empty() || xxh3_128_hex(std::as_bytes(std::span(logits))) != digest) {
    throw state_->damaged(
        fmt::format("run {}, step {}: the logits don't have the report's digest", run, step));
  }
  return logits;
}

}  // namespace drift
