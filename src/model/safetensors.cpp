#include "model/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/mapped_storage.hpp"
#include "model/shown.hpp"
#include "model/strict_json.hpp"

namespace drift {
namespace {

constexpr std::uint64_t kMaxHeader = std::uint64_t{4} << 20;
constexpr const char* kFetchAgain =
    "the file looks truncated; fetch or copy it again (gpt2: driftaudit model fetch gpt2)";

constexpr std::pair<std::string_view, Dtype> kDtypeNames[] = {
    {"F64", Dtype::kFloat64},   {"F32", Dtype::kFloat32}, {"F16", Dtype::kFloat16},
    {"BF16", Dtype::kBfloat16}, {"I64", Dtype::kInt64},   {"I32", Dtype::kInt32},
    {"I16", Dtype::kInt16},     {"I8", Dtype::kInt8},     {"U64", Dtype::kUint64},
    {"U32", Dtype::kUint32},    {"U16", Dtype::kUint16},  {"U8", Dtype::kUint8},
    {"BOOL", Dtype::kBool}};

struct Entry {
  StoredTensor tensor;
  std::uint64_t begin = 0, end = 0;  // in the data behind the header
};

Dtype parse_dtype(const std::string& name, const std::string& where) {
  for (const auto& [known, dtype] : kDtypeNames) {
    if (known == name) {
      return dtype;
    }
  }
  throw usage_error(fmt::format("{} has dtype \"{}\", which isn't known here", where, shown(name)),
                    "convert the checkpoint to float32, float16 or bfloat16");
}

/// An array of non-negative integers, in a tensor's entry of the header.
std::vector<std::uint64_t> parse_sizes(const nlohmann::json& entry, const char* key,
                                       const std::string& where) {
  const auto found = entry.find(key);
  const bool good = found != entry.end() && found->is_array() &&
                    std::all_of(found->begin(), found->end(),
                                [](const auto& size) { return size.is_number_unsigned(); });
  if (!good) {
    throw usage_error(fmt::format("{}: \"{}\" isn't a list of sizes", where, key));
  }
  return found->template get<std::vector<std::uint64_t>>();
}

Entry parse_entry(const std::string& name, const nlohmann::json& json, const fs::path& file) {
  const std::string where = fmt::format("{}: tensor \"{}\"", file.string(), shown(name));
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      json.size() != 3) {
    throw usage_error(fmt::format("{} needs dtype, shape and data_offsets, and no more", where));
  }
  Entry entry;
  entry.tensor.name = name;
  entry.tensor.file = file;
  entry.tensor.dtype = parse_dtype(json["dtype"].get<std::string>(), where);
  entry.tensor.shape = parse_sizes(json, "shape", where);
  const auto offsets = parse_sizes(json, "data_offsets", where);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw usage_error(fmt::format("{}: data_offsets aren't a begin and an end", where));
  }
  entry.begin = offsets[0];
  entry.end = offsets[1];
  std::uint64_t elements = 0;
  if (!count_elements(entry.tensor.shape, entry.tensor.dtype, elements)) {
    throw usage_error(fmt::format("{} has shape {}, more than can be counted", where,
                                  shape_text(entry.tensor.shape)));
  }
  if (elements * dtype_size(entry.tensor.dtype) != entry.end - entry.begin) {
    throw usage_error(fmt::format("{} has shape {} in the header but {} bytes of data", where,
                                  shape_text(entry.tensor.shape), entry.end - entry.begin));
  }
  entry.tensor.strides = contiguous_strides(entry.tensor.shape);
  return entry;
}

nlohmann::json parse_header(const fs::path& file, std::span<const std::byte> bytes,
                            std::uint64_t& length) {
  if (bytes.size() < sizeof length) {
    throw usage_error(
        fmt::format("{}: {} bytes are no safetensors file", file.string(), bytes.size()),
        kFetchAgain);
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::uint64_t rest = bytes.size() - sizeof length;
  if (length > kMaxHeader) {
    throw usage_error(
        fmt::format("{}: says that its header is {} bytes long, more than the {} that are read",
                    file.string(), length, kMaxHeader),
        "this is no safetensors file, or a damaged one");
  }
  if (length > rest) {
    throw usage_error(fmt::format("{}: says that its header is {} bytes long, but {} are left",
                                  file.string(), length, rest),
                      kFetchAgain);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length);
  const std::string where = file.string() + ": header";
  nlohmann::json header = parse_strict_json(text, where);
  if (!header.is_object()) {
    throw usage_error(where + " is not a JSON object");
  }
  return header;
}

/// The entries, sorted by their place, must tile the data.
void check_places(const std::vector<Entry>& entries, std::uint64_t data_size,
                  const fs::path& file) {
  std::uint64_t at = 0;
  const std::string* before = nullptr;
  for (const Entry& entry : entries) {
    const std::string where =
        fmt::format("{}: tensor \"{}\"", file.string(), shown(entry.tensor.name));
    if (entry.end > data_size) {
      throw usage_error(fmt::format("{} ends at byte {} of the data, but there are only {}", where,
                                    entry.end, data_size),
                        kFetchAgain);
    }
    if (entry.begin < at) {
      throw usage_error(fmt::format("{} overlaps \"{}\"", where, shown(*before)));
    }
    if (entry.begin > at) {
      throw usage_error(fmt::format(
          "{} begins at byte {} of the data: the {} bytes before it belong to no tensor", where,
          entry.begin, entry.begin - at));
    }
    at = entry.end;
    before = &entry.tensor.name;
  }
  if (at != data_size) {
    throw usage_error(
        fmt::format("{}: the last {} bytes belong to no tensor", file.string(), data_size - at));
  }
}

}  // namespace

std::string_view safetensors_dtype_name(Dtype dtype) {
  for (const auto& [name, known] : kDtypeNames) {
    if (known == dtype) {
      return name;
    }
  }
  throw std::logic_error("no such dtype");
}

bool is_safetensors(const fs::path& file) {
  if (file.extension() == ".safetensors") {
    return true;
  }
  const MappedFile mapped(file);
  const auto bytes = mapped.bytes();
  return bytes.size() > 8 && bytes[8] == std::byte{'{'} && bytes[7] == std::byte{0};
}

std::vector<StoredTensor> read_safetensors(const fs::path& file) {
  const auto mapped = std::make_shared<const MappedFile>(file);
  std::uint64_t length = 0;
  const nlohmann::json header = parse_header(file, mapped->bytes(), length);
  const auto data = mapped->bytes().subspan(sizeof length + length);

  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(parse_entry(name, json, file));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_places(entries, data.size(), file);

  std::vector<StoredTensor> tensors;
  for (Entry& entry : entries) {
    entry.tensor.storage =
        std::make_shared<MappedStorage>(mapped, data.subspan(entry.begin, entry.end - entry.begin));
    tensors.push_back(std::move(entry.tensor));
  }
  return tensors;
}

}  // namespace drift
