#include "driftaudit/weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/progress.hpp"

#include "model/checkpoint.hpp"
#include "model/gpt2_tensors.hpp"
#include "model/weights_header.hpp"

namespace drift {
namespace {

/// Whether the model is run with the token embedding for its output head.
bool runs_tied(const StoredHead& head, const ModelConfig& config, HeadChoice choice,
               const fs::path& source) {
  const bool tied = choice == HeadChoice::kConfig ? config.tied : choice == HeadChoice::kTied;
  if (!tied && head.elements == 0) {
    const std::string what =
        fmt::format("{}: tensor \"lm_head.weight\" is missing, but {}", source.string(),
                    choice == HeadChoice::kStored
                        ? "--output-head stored asks for it"
                        : "config.json says that the output head isn't \"wte.weight\"");
    throw usage_error(what, choice == HeadChoice::kStored
                                ? "leave the option out"
                                : "tie_word_embeddings in config.json may be wrong: --output-head "
                                  "tied runs the model with \"wte.weight\"");
  }
  return tied || head.differing == 0;
}

std::string stored_dtype(const Gpt2Tensors& tensors) {
  const Dtype first = tensors.by_name.begin()->second.dtype;
  const bool one = std::all_of(tensors.by_name.begin(), tensors.by_name.end(),
                               [first](const auto& entry) { return entry.second.dtype == first; });
  return one ? std::string(dtype_name(first)) : "mixed";
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

CheckpointFacts write_canonical_weights(const fs::path& source, ModelConfig& config,
                                        const fs::path& target, HeadChoice choice) {
  Gpt2Tensors tensors = gpt2_tensors(open_checkpoint(source));
  CheckpointFacts facts;
  facts.head = stored_head(tensors, config);
  ModelConfig found = config;
  found.tied = runs_tied(facts.head, config, choice, source);
  weights::Header header = header_of(found);
  const std::vector<weights::Tensor> list = weights::tensor_list(header);
  check_tensors(tensors, list, source);
  header.file_bytes = list.back().offset + list.back().elements() * sizeof(float);
  check_disk(target, header.file_bytes);

  AtomicFile file(target, true);
  file.write(std::as_bytes(std::span(&header, 1)));
  for (const weights::Tensor& place : list) {
    write_tensor(file, place, tensors.by_name.at(place.name));
  }
  file.commit();
  config.tied = found.tied;
  facts.dtype = stored_dtype(tensors);
  facts.other_heads = std::move(tensors.other_heads);
  return facts;
}

}  // namespace drift
