#include "driftaudit/weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/progress.hpp"

#include "model/checkpoint.hpp"
#include "model/shown.hpp"
#include "model/weights_header.hpp"

namespace drift {
namespace {

constexpr const char* kHead = "lm_head.weight";
constexpr const char* kEmbedding = "wte.weight";
constexpr const char* kOtherModel = "the weights and config.json belong to different models";

using TensorsByName = std::map<std::string, StoredTensor>;

std::string where(const StoredTensor& tensor) {
  return fmt::format("{}: tensor \"{}\"", tensor.file.string(), shown(tensor.name));
}

/// "h.3.attn.bias" and "h.3.attn.masked_bias": constants that older releases of transformers saved.
bool is_mask(const std::string& name) {
  if (!name.starts_with("h.")) {
    return false;
  }
  const std::size_t dot = name.find_first_not_of("0123456789", 2);
  return dot != std::string::npos && dot > 2 &&
         (name.compare(dot, std::string::npos, ".attn.bias") == 0 ||
          name.compare(dot, std::string::npos, ".attn.masked_bias") == 0);
}

/// All tensors but the masks, under GPT-2's own names.
TensorsByName named_tensors(std::vector<StoredTensor> tensors) {
  constexpr std::string_view kPrefix = "transformer.";
  TensorsByName named;
  for (StoredTensor& tensor : tensors) {
    const std::string name =
        tensor.name.substr(tensor.name.starts_with(kPrefix) ? kPrefix.size() : 0);
    if (is_mask(name)) {
      continue;
    }
    const auto found = named.find(name);
    if (found != named.end()) {
      throw usage_error(
          fmt::format("{} is the same as \"{}\"", where(tensor), shown(found->second.name)),
          "keep one of the two");
    }
    named.emplace(name, std::move(tensor));
  }
  return named;
}

void check_shape(const StoredTensor& tensor, const std::vector<std::int64_t>& wanted) {
  const std::vector<std::uint64_t> shape(wanted.begin(), wanted.end());
  if (tensor.shape != shape) {
    throw usage_error(fmt::format("{} has shape {}, but config.json asks for {}", where(tensor),
                                  shape_text(tensor.shape), shape_text(shape)),
                      kOtherModel);
  }
}

void check_dtype(const StoredTensor& tensor) {
  if (tensor.dtype != Dtype::kFloat32 && tensor.dtype != Dtype::kFloat16 &&
      tensor.dtype != Dtype::kBfloat16) {
    throw usage_error(fmt::format("{} is {}, which isn't exact in float32", where(tensor),
                                  dtype_name(tensor.dtype)),
                      "save the model as float32: model.float().save_pretrained(folder)");
  }
}

/// Every tensor that the config asks for is there with its shape, and no other.
void check_tensors(const TensorsByName& tensors, const std::vector<weights::Tensor>& list,
                   const fs::path& source) {
  for (const weights::Tensor& wanted : list) {
    const auto found = tensors.find(wanted.name);
    if (found == tensors.end()) {
      throw usage_error(fmt::format("{}: tensor \"{}\" is missing", source.string(), wanted.name),
                        kOtherModel);
    }
    check_shape(found->second, wanted.shape);
    check_dtype(found->second);
  }
  std::set<std::string_view> wanted{kHead};  // a head that equals the embedding isn't in the list
  for (const weights::Tensor& tensor : list) {
    wanted.insert(tensor.name);
  }
  for (const auto& [name, tensor] : tensors) {
    if (!wanted.contains(name)) {
      throw usage_error(where(tensor) + " is no part of a GPT-2 of config.json's sizes",
                        kOtherModel);
    }
  }
}

bool same_elements(const StoredTensor& a, const StoredTensor& b) {
  if (a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset &&
      a.strides == b.strides) {
    return true;
  }
  TensorReader left(a);
  TensorReader right(b);
  for (;;) {
    throw_if_interrupted();
    const auto x = left.next();
    const auto y = right.next();
    if (x.empty()) {
      return true;
    }
    if (std::memcmp(x.data(), y.data(), x.size_bytes()) != 0) {
      return false;
    }
  }
}

/// Whether the output head is the token embedding, from what is stored rather than what is said.
bool is_tied(const TensorsByName& tensors, const ModelConfig& config, const fs::path& source) {
  const auto head = tensors.find(kHead);
  const auto embedding = tensors.find(kEmbedding);
  if (head == tensors.end()) {
    if (!config.tied) {
      throw usage_error(fmt::format("{}: tensor \"{}\" is missing, but config.json says that it "
                                    "isn't \"{}\"",
                                    source.string(), kHead, kEmbedding),
                        "tie_word_embeddings in config.json may be wrong");
    }
    return true;
  }
  check_shape(head->second, {config.vocab_size, config.n_embd});
  check_dtype(head->second);
  if (embedding == tensors.end() || embedding->second.shape != head->second.shape) {
    return config.tied;  // an error of its own soon
  }
  check_dtype(embedding->second);
  return same_elements(head->second, embedding->second);
}

std::string stored_dtype(const TensorsByName& tensors) {
  const Dtype first = tensors.begin()->second.dtype;
  const bool one = std::all_of(tensors.begin(), tensors.end(),
                               [first](const auto& entry) { return entry.second.dtype == first; });
  return one ? std::string(dtype_name(first)) : "mixed";
}

/// "[3, 17]" of a row-major position.
std::string position_text(std::uint64_t position, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return shape_text(index);
}

void check_finite(std::span<const float> values, std::uint64_t first, const StoredTensor& tensor) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad != values.end()) {
    const auto position = first + static_cast<std::uint64_t>(bad - values.begin());
    throw usage_error(
        fmt::format("{} is {} at {}", where(tensor), std::isnan(*bad) ? "NaN" : "infinite",
                    position_text(position, tensor.shape)),
        "the checkpoint is damaged, or its training diverged");
  }
}

void write_tensor(AtomicFile& file, const weights::Tensor& place, const StoredTensor& tensor) {
  constexpr std::array<std::byte, weights::kAlignment> kGap{};
  file.write(std::span(kGap).first(place.offset - file.size()));
  TensorReader reader(tensor);
  std::uint64_t done = 0;
  for (auto values = reader.next(); !values.empty(); values = reader.next()) {
    throw_if_interrupted();
    check_finite(values, done, tensor);
    file.write(std::as_bytes(values));
    done += values.size();
  }
}

void check_disk(const fs::path& target, std::uint64_t needed) {
  const std::uint64_t available = free_disk_bytes(target.parent_path());
  if (available < needed) {
    throw trouble(fmt::format("{}: needs {}, but {} are free there", target.string(),
                              format_bytes(needed), format_bytes(available)),
                  "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }
}

}  // namespace

weights::Header header_of(const ModelConfig& config) {
  weights::Header header{};
  std::copy(std::begin(weights::kMagic), std::end(weights::kMagic), header.magic);
  header.version = weights::kVersion;
  header.n_embd = config.n_embd;
  header.n_head = config.n_head;
  header.n_layer = config.n_layer;
  header.n_positions = config.n_positions;
  header.vocab_size = config.vocab_size;
  header.n_inner = config.n_inner;
  header.flags = (config.tied ? weights::kTied : 0) |
                 (config.scale_attention ? weights::kScaleAttention : 0) |
                 (config.scale_by_layer ? weights::kScaleByLayer : 0);
  header.layer_norm_epsilon = config.layer_norm_epsilon;
  return header;
}

std::string write_canonical_weights(const fs::path& source, ModelConfig& config,
                                    const fs::path& target) {
  const TensorsByName tensors = named_tensors(open_checkpoint(source));
  ModelConfig found = config;
  found.tied = is_tied(tensors, config, source);
  weights::Header header = header_of(found);
  const std::vector<weights::Tensor> list = weights::tensor_list(header);
  check_tensors(tensors, list, source);
  header.file_bytes = list.back().offset + list.back().elements() * sizeof(float);
  check_disk(target, header.file_bytes);

  AtomicFile file(target, true);
  file.write(std::as_bytes(std::span(&header, 1)));
  for (const weights::Tensor& place : list) {
    write_tensor(file, place, tensors.at(place.name));
  }
  file.commit();
  config.tied = found.tied;
  return stored_dtype(tensors);
}

}  // namespace drift
