#include "model/gpt2_tensors.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/interrupt.hpp"

#include "model/shown.hpp"
#include "model/tensor_names.hpp"

namespace drift {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHead = "lm_head.weight";
constexpr const char* kEmbedding = "wte.weight";
constexpr const char* kOtherModel = "the weights and config.json belong to different models";

using TensorsByName = std::map<std::string, StoredTensor>;

/// Calls `see` with each element and its row-major position, until it says false.
template <class See>
void see_elements(const StoredTensor& tensor, const See& see) {
  TensorReader reader(tensor);
  std::uint64_t at = 0;
  for (auto values = reader.next(); !values.empty(); values = reader.next()) {
    throw_if_interrupted();
    for (const float value : values) {
      if (!see(value, at++)) {
        return;
      }
    }
  }
}

[[noreturn]] void refuse_mask(const StoredTensor& tensor, const std::string& why) {
  throw usage_error(fmt::format("{} is not GPT-2's causal mask: {}", where(tensor), why),
                    "older releases of transformers compute with the stored mask, newer ones with "
                    "the causal one; remove the tensor to say that the causal one is right");
}

/// Ones up to the diagonal and zeros behind it, over any number of positions.
void check_mask(const StoredTensor& tensor) {
  const std::vector<std::uint64_t>& shape = tensor.shape;
  const std::size_t rank = shape.size();
  if (rank < 2 || shape[rank - 1] == 0 || shape[rank - 1] != shape[rank - 2] ||
      std::any_of(shape.begin(), shape.end() - 2, [](std::uint64_t size) { return size != 1; })) {
    refuse_mask(tensor, fmt::format("it has shape {}", shape_text(shape)));
  }
  if (!raises_to_float32(tensor.dtype)) {
    refuse_mask(tensor, fmt::format("it is {}", dtype_name(tensor.dtype)));
  }
  const std::uint64_t size = shape[rank - 1];
  see_elements(tensor, [&](float value, std::uint64_t at) {
    const float causal = at % size <= at / size ? 1 : 0;
    if (value != causal) {
      refuse_mask(tensor, fmt::format("it is {:g} at {}", value, position_text(at, shape)));
    }
    return true;
  });
}

/// What releases of old put where the mask is 0: low enough to leave nothing there.
void check_masked_value(const StoredTensor& tensor) {
  constexpr float kLowEnough = -1000;
  if (tensor.elements() != 1 || !raises_to_float32(tensor.dtype)) {
    refuse_mask(tensor, fmt::format("it has shape {} and is {}", shape_text(tensor.shape),
                                    dtype_name(tensor.dtype)));
  }
  see_elements(tensor, [&](float value, std::uint64_t) {
    if (!(value <= kLowEnough)) {
      refuse_mask(tensor, fmt::format("it is {:g}", value));
    }
    return true;
  });
}

void check_dtype(const StoredTensor& tensor) {
  if (tensor.dtype != Dtype::kFloat32 && tensor.dtype != Dtype::kFloat16 &&
      tensor.dtype != Dtype::kBfloat16) {
    throw usage_error(fmt::format("{} is {}, which isn't exact in float32", where(tensor),
                                  dtype_name(tensor.dtype)),
                      "save the model as float32: model.float().save_pretrained(folder)");
  }
}

/// The matrices that transformers keeps as Conv1D, [in, out], and others as nn.Linear, [out, in].
bool is_conv1d(const std::string& name) {
  return name.ends_with(".c_attn.weight") || name.ends_with(".c_proj.weight") ||
         name.ends_with(".c_fc.weight");
}

void check_shape(const StoredTensor& tensor, const std::string& name,
                 const std::vector<std::int64_t>& wanted) {
  const std::vector<std::uint64_t> shape(wanted.begin(), wanted.end());
  if (tensor.shape == shape) {
    return;
  }
  if (is_conv1d(name) &&
      std::equal(shape.rbegin(), shape.rend(), tensor.shape.begin(), tensor.shape.end())) {
    throw usage_error(
        fmt::format("{} has shape {}: it is stored transposed, as nn.Linear and nanoGPT keep it, "
                    "and config.json asks for {}",
                    where(tensor), shape_text(tensor.shape), shape_text(shape)),
        "transpose attn.c_attn, attn.c_proj, mlp.c_fc and mlp.c_proj of every block, and see that "
        "the model was trained with \"gelu_new\" (nanoGPT has had two kinds of GELU)");
  }
  throw usage_error(fmt::format("{} has shape {}, but config.json asks for {}", where(tensor),
                                shape_text(tensor.shape), shape_text(shape)),
                    kOtherModel);
}

/// What a missing tensor's name follows in a stored one: "backbone." of "backbone.wte.weight".
std::optional<std::pair<std::string, std::string>> unknown_prefix(const TensorsByName& tensors,
                                                                  const std::string& missing) {
  for (const auto& [name, tensor] : tensors) {
    if (name.ends_with("." + missing)) {
      return std::pair(tensor.name, name.substr(0, name.size() - missing.size()));
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse_missing(const TensorsByName& tensors, const std::string& missing,
                                 const fs::path& source) {
  const std::string what =
      fmt::format("{}: tensor \"{}\" is missing", source.string(), shown(missing));
  if (const auto found = unknown_prefix(tensors, missing)) {
    throw usage_error(fmt::format("{}; \"{}\" would be it without the prefix \"{}\"", what,
                                  shown(found->first), shown(found->second)),
                      "save the tensors without the prefix, if they are this model's");
  }
  if (missing == kEmbedding && tensors.contains(kHead)) {
    throw usage_error(what + ", while \"lm_head.weight\" is there",
                      "where the two are tied, save that tensor under both names");
  }
  const bool no_biases = std::none_of(tensors.begin(), tensors.end(), [](const auto& entry) {
    return entry.first.ends_with(".bias");
  });
  if (missing.ends_with(".bias") && no_biases) {
    throw usage_error(what + ", and so is every other bias",
                      "of a model trained without biases (nanoGPT's bias=False), save biases of 0");
  }
  throw usage_error(what, kOtherModel);
}

}  // namespace

std::string where(const StoredTensor& tensor) {
  return fmt::format("{}: tensor \"{}\"", tensor.file.string(), shown(tensor.name));
}

std::string position_text(std::uint64_t position, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return shape_text(index);
}

Gpt2Tensors gpt2_tensors(std::vector<StoredTensor> stored) {
  Gpt2Tensors tensors;
  std::set<std::string> heads;
  for (StoredTensor& tensor : stored) {
    const std::string name = gpt2_tensor_name(tensor.name);
    if (is_mask(name)) {
      check_mask(tensor);
    } else if (is_masked_value(name)) {
      check_masked_value(tensor);
    } else if (const std::string_view head = other_head(name); !head.empty()) {
      heads.emplace(head);
    } else if (const auto found = tensors.by_name.find(name); found != tensors.by_name.end()) {
      throw usage_error(
          fmt::format("{} is the same as \"{}\"", where(tensor), shown(found->second.name)),
          "keep one of the two");
    } else {
      tensors.by_name.emplace(name, std::move(tensor));
    }
  }
  tensors.other_heads.assign(heads.begin(), heads.end());
  return tensors;
}

void check_tensors(const Gpt2Tensors& tensors, const std::vector<weights::Tensor>& list,
                   const fs::path& source) {
  std::set<std::string_view> wanted{kHead};  // a head that equals the embedding isn't in the list
  for (const weights::Tensor& tensor : list) {
    const auto found = tensors.by_name.find(tensor.name);
    if (found == tensors.by_name.end()) {
      refuse_missing(tensors.by_name, tensor.name, source);
    }
    check_shape(found->second, tensor.name, tensor.shape);
    check_dtype(found->second);
    wanted.insert(tensor.name);
  }
  for (const auto& [name, tensor] : tensors.by_name) {
    if (!wanted.contains(name)) {
      throw usage_error(where(tensor) + " is no part of a GPT-2 of config.json's sizes",
                        kOtherModel);
    }
  }
}

StoredHead stored_head(const Gpt2Tensors& tensors, const ModelConfig& config) {
  StoredHead head;
  const auto stored = tensors.by_name.find(kHead);
  if (stored == tensors.by_name.end()) {
    return head;
  }
  check_shape(stored->second, kHead, {config.vocab_size, config.n_embd});
  check_dtype(stored->second);
  head.elements = stored->second.elements();
  const auto embedding = tensors.by_name.find(kEmbedding);
  if (embedding == tensors.by_name.end() || embedding->second.shape != stored->second.shape) {
    return head;  // an error of its own soon
  }
  check_dtype(embedding->second);
  const StoredTensor& a = stored->second;
  const StoredTensor& b = embedding->second;
  if (a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset &&
      a.strides == b.strides) {
    return head;
  }
  TensorReader left(a);
  TensorReader right(b);
  for (auto x = left.next(), y = right.next(); !x.empty(); x = left.next(), y = right.next()) {
    throw_if_interrupted();
    for (std::size_t i = 0; i < x.size(); ++i) {
      head.differing += std::memcmp(&x[i], &y[i], sizeof(float)) != 0 ? 1 : 0;
    }
  }
  return head;
}

}  // namespace drift
