#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drift {

/// How a model's attention is computed: by operations of its own (scores, scale, mask, softmax,
/// sum), or by torch's one, scaled_dot_product_attention.
enum class Attention { kEager, kSdpa };
inline constexpr std::array<const char*, 2> kAttentionNames{"eager", "sdpa"};
constexpr const auto& names_of(Attention) { return kAttentionNames; }

/// How eager attention brings 1/√D in: transformers before 5.4 divide the scores by √D, later ones
/// multiply them by D^-0.5. Where √D isn't a power of two that gives other bits.
enum class ScoreScale { kDivide, kMultiply };
inline constexpr std::array<const char*, 2> kScoreScaleNames{"divide", "multiply"};
constexpr const auto& names_of(ScoreScale) { return kScoreScaleNames; }

/// The first torch for which transformers take scaled_dot_product_attention. (2.0 has the
/// operation, but none of them uses it there.)
inline constexpr const char* kFirstTorchWithSdpa = "2.1.1";
/// The first transformers that take it for GPT-2, and do so by default.
inline constexpr const char* kFirstTransformersWithSdpa = "4.42";

/// What a side's attention hangs on.
struct AttentionFacts {
  std::string torch;         ///< its version; empty: the build isn't there
  std::string transformers;  ///< the version that is installed beside it, or empty
};

/// How one side computes attention, and why so.
struct SideAttention {
  Attention kind = Attention::kEager;
  ScoreScale scale = ScoreScale::kDivide;   ///< of eager attention
  std::optional<std::string> choice;        ///< what chose it, in words
  std::optional<std::string> transformers;  ///< whose calls are repeated, if any's

  bool operator==(const SideAttention&) const = default;
};

/// "eager", "sdpa", "eager (scaled as transformers 5.4)"; `noun` follows the first word.
std::string attention_words(const SideAttention& attention, const std::string& noun = "");

/// Whether a torch of this version has it, as transformers see that. Of a version that isn't known:
/// no.
bool has_sdpa(const std::string& torch);

struct AutoAttention {
  Attention kind = Attention::kEager;
  std::string why;  ///< in words
};

/// What `auto` means for builds that are compared: sdpa where each has it and no transformers that
/// is installed beside one computes GPT-2 eagerly; else eager. Builds that aren't there don't
/// count.
AutoAttention auto_attention(const std::vector<AttentionFacts>& builds);

/// Whether the two scales give other bits at a head width; of one that isn't known (0): they may.
bool scale_shows(std::uint32_t head_width);

/// The scale for one of several builds: that of its own transformers, else the one that all others
/// agree on, else kDivide.
ScoreScale score_scale(const AttentionFacts& own, const std::vector<AttentionFacts>& builds);

}  // namespace drift
