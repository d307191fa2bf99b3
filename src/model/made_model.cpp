#include "driftaudit/made_model.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/model_config.hpp"
#include "driftaudit/paths.hpp"

#include "model/checkpoint_writer.hpp"
#include "model/weights_header.hpp"

namespace drift {
namespace {

/// What a preset is made of.
struct Plan {
  ModelConfig config;
  const char* tokenizer;      ///< folder below the shipped models/
  std::int32_t width_factor;  ///< wider models need smaller weights; see noise_of()
  int width_shift;
};

Plan plan_of(MadePreset preset) {
  Plan plan;
  ModelConfig& config = plan.config;
  if (preset == MadePreset::kGpt2Small) {
    config.n_embd = 768;
    config.n_head = config.n_layer = 12;
    config.n_positions = 1024;
    config.vocab_size = 50257;
    config.end_of_text = {50256};
    plan.tokenizer = "gpt2-vocab";
    plan.width_factor = 71;
    plan.width_shift = 27;
  } else {
    config.n_embd = 32;
    config.n_head = config.n_layer = 2;
    config.n_positions = 128;
    config.vocab_size = 4096;
    config.end_of_text = {0};
    plan.tokenizer = "mini";
    plan.width_factor = 87;
    plan.width_shift = 25;
  }
  config.n_inner = 4 * config.n_embd;
  return plan;
}

/// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed) + stream) {
    state_ = mix(state_);
  }
  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15U); }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// Near-normal noise without a single rounding: the sum of a draw's four 16-bit parts around 0 has
/// standard deviation 37,837 and lies within ±131,070.
std::int32_t bell(std::uint64_t draw) {
  std::int32_t sum = -2 * 65535;
  for (int part = 0; part < 4; ++part) {
    sum += static_cast<std::int32_t>((draw >> (16 * part)) & 0xFFFF);
  }
  return sum;
}

/// A tensor's elements are (center + factor × bell) / 2^shift, each exact in float32: numerators
/// stay below 2^24.
struct Noise {
  std::int32_t center = 0;
  std::int32_t factor = 1;
  int shift = 0;
};

/// Scales. Weights have GPT-2's deviation of 0.02 at width 768 and more below. The embedding has
/// half of that, since the head is tied to it: the last token would favour itself. What enters the
/// attention and the MLP is 4 and 2 times larger, so that attention has its preferences and the
/// next token depends on all before; the last layer norm's 12 spreads the logits as a trained
/// model's.
Noise noise_of(std::string_view name, const Plan& plan) {
  const auto is = [name](std::string_view end) { return name.ends_with(end); };
  constexpr std::int32_t kOne = 1 << 20;
  if (name == "ln_f.weight") {
    return {12 * kOne, 8, 20};
  }
  if (is("ln_1.weight") || is("ln_2.weight")) {
    return {kOne, 1, 20};
  }
  if (is(".bias")) {
    return {0, 71, 29};  // 0.005
  }
  if (name == "wte.weight" || name == "wpe.weight") {
    return {0, plan.width_factor, plan.width_shift + 1};
  }
  if (is("c_attn.weight")) {
    return {0, plan.width_factor, plan.width_shift - 2};
  }
  if (is("c_fc.weight")) {
    return {0, plan.width_factor, plan.width_shift - 1};
  }
  return {0, plan.width_factor, plan.width_shift};
}

Dtype stored_dtype(MadeDtype dtype) {
  switch (dtype) {
    case MadeDtype::kFloat16:
      return Dtype::kFloat16;
    case MadeDtype::kBfloat16:
      return Dtype::kBfloat16;
    case MadeDtype::kFloat32:
      break;
  }
  return Dtype::kFloat32;
}

void append(std::vector<std::byte>& bytes, float value, Dtype dtype) {
  const auto put = [&bytes](auto stored) {
    const auto at = bytes.size();
    bytes.resize(at + sizeof stored);
    std::memcpy(bytes.data() + at, &stored, sizeof stored);
  };
  if (dtype == Dtype::kFloat16) {
    put(float32_to_float16(value));
  } else if (dtype == Dtype::kBfloat16) {
    put(float32_to_bfloat16(value));
  } else {
    put(value);
  }
}

void produce(const Noise& noise, Random random, std::uint64_t elements, Dtype dtype,
             const ByteSink& sink) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  const float scale = 1.0F / static_cast<float>(std::int64_t{1} << noise.shift);
  std::vector<std::byte> bytes;
  bytes.reserve(kPiece * sizeof(float));
  for (std::uint64_t done = 0; done < elements;) {
    throw_if_interrupted();
    bytes.clear();
    const std::uint64_t end = std::min(elements, done + kPiece);
    for (; done < end; ++done) {
      const std::int32_t numerator = noise.center + noise.factor * bell(random.next());
      append(bytes, static_cast<float>(numerator) * scale, dtype);
    }
    sink(bytes);
  }
}

void write_weights(const fs::path& folder, const Plan& plan, const MadeModelOptions& options,
                   Progress& progress) {
  const std::vector<weights::Tensor> list = weights::tensor_list(header_of(plan.config));
  std::vector<OutgoingTensor> tensors;
  std::uint64_t total = 0;
  for (const weights::Tensor& tensor : list) {
    tensors.push_back(
        {tensor.name, stored_dtype(options.dtype), {tensor.shape.begin(), tensor.shape.end()}});
    total += tensors.back().bytes();
  }
  std::uint64_t done = 0;
  const TensorSource source = [&](std::size_t i, const ByteSink& sink) {
    produce(noise_of(tensors[i].name, plan), Random(options.seed, i), list[i].elements(),
            tensors[i].dtype, [&](std::span<const std::byte> bytes) {
              sink(bytes);
              progress.update(done += bytes.size());
            });
  };
  progress.start("making weights", total, Progress::Unit::kBytes);
  switch (options.format) {
    case CheckpointFormat::kSafetensors:
      write_safetensors(folder / "model.safetensors", tensors, source);
      break;
    case CheckpointFormat::kTorchZip:
      write_torch_zip(folder / "pytorch_model.bin", tensors, source);
      break;
    case CheckpointFormat::kTorchLegacy:
      write_torch_legacy(folder / "pytorch_model.bin", tensors, source);
      break;
  }
  progress.finish();
}

void write_config(const fs::path& folder, const ModelConfig& config, MadeDtype dtype) {
  const nlohmann::ordered_json json{{"model_type", "gpt2"},
                                    {"architectures", {"GPT2LMHeadModel"}},
                                    {"activation_function", "gelu_new"},
                                    {"vocab_size", config.vocab_size},
                                    {"n_positions", config.n_positions},
                                    {"n_ctx", config.n_positions},
                                    {"n_embd", config.n_embd},
                                    {"n_layer", config.n_layer},
                                    {"n_head", config.n_head},
                                    {"layer_norm_epsilon", config.layer_norm_epsilon},
                                    {"bos_token_id", config.end_of_text.front()},
                                    {"eos_token_id", config.end_of_text.front()},
                                    {"torch_dtype", dtype_name(stored_dtype(dtype))}};
  write_file(folder / "config.json", json.dump(2) + "\n");
}

void copy_tokenizer(const fs::path& folder, const char* tokenizer) {
  for (const char* name : {"vocab.json", "merges.txt"}) {
    write_file(folder / name, read_file(data_folder() / "models" / tokenizer / name));
  }
}

}  // namespace

void make_model(const fs::path& folder, const MadeModelOptions& options, Progress& progress) {
  if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder))) {
    throw usage_error(fmt::format("{}: is there already", folder.string()),
                      "choose a new folder, or remove this one");
  }
  // A folder within the temporary one gets the permissions that a person's own would have.
  const fs::path target = fs::absolute(folder).lexically_normal();
  const fs::path parent = (target.has_filename() ? target : target.parent_path()).parent_path();
  const TemporaryFolder temporary(parent, ".driftaudit-made");
  const fs::path made = temporary.path() / "model";
  fs::create_directory(made);
  const Plan plan = plan_of(options.preset);
  write_weights(made, plan, options, progress);
  write_config(made, plan.config, options.dtype);
  copy_tokenizer(made, plan.tokenizer);
  std::error_code error;
  fs::rename(made, target, error);
  if (error) {
    throw usage_error(fmt::format("{}: can't be written: {}", folder.string(), error.message()),
                      "choose another path");
  }
}

}  // namespace drift
