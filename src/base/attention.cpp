#include "driftaudit/attention.hpp"

#include <bit>
#include <set>

#include <fmt/core.h>

#include "base/transformers_calls.hpp"
#include "base/whole_number.hpp"

namespace drift {
namespace {

constexpr const char* kFirstLastPosition = "4.53";

/// Part by part; "4.42" is at least "4.42", and less than "4.42.0".
bool at_least(const std::string& version, const std::string& least) {
  return version_numbers(version) >= version_numbers(least);
}

ScoreScale scale_of(const std::string& transformers) {
  return at_least(transformers, "5.4") ? ScoreScale::kMultiply : ScoreScale::kDivide;
}

}  // namespace

std::vector<std::uint64_t> version_numbers(const std::string& version) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at < version.size();) {
    const std::size_t end = version.find_first_not_of("0123456789", at);
    const auto number = whole_number_in(version.substr(at, end - at));
    if (!number) {
      break;
    }
    numbers.push_back(*number);
    if (end == std::string::npos || version[end] != '.') {
      break;
    }
    at = end + 1;
  }
  return numbers;
}

std::string followed_transformers(const AttentionFacts& own,
                                  const std::vector<AttentionFacts>& builds) {
  std::string followed = own.transformers;
  for (const AttentionFacts& build : builds) {
    if (!own.transformers.empty() || build.transformers.empty()) {
      continue;
    }
    followed = followed.empty() ? build.transformers : followed;
    if (scale_of(followed) != scale_of(build.transformers) ||
        at_least(followed, kFirstLastPosition) !=
            at_least(build.transformers, kFirstLastPosition)) {
      return "";
    }
  }
  return followed;
}

bool asks_last_position(const SideAttention& attention) {
  return attention.transformers ? at_least(*attention.transformers, kFirstLastPosition)
                                : attention.kind == Attention::kSdpa;
}

std::string attention_words(const SideAttention& attention, const std::string& noun) {
  const bool multiplied =
      attention.kind == Attention::kEager && attention.scale == ScoreScale::kMultiply;
  return fmt::format("{}{}{}", kAttentionNames.at(static_cast<std::size_t>(attention.kind)), noun,
                     multiplied ? " (scaled as transformers 5.4)" : "");
}

bool has_sdpa(const std::string& torch) { return at_least(torch, kFirstTorchWithSdpa); }

AutoAttention auto_attention(const std::vector<AttentionFacts>& builds) {
  bool any = false;
  for (const AttentionFacts& build : builds) {
    if (build.torch.empty()) {
      continue;
    }
    any = true;
    if (!has_sdpa(build.torch)) {
      return {Attention::kEager, fmt::format("torch {} has no other (sdpa takes {} or newer)",
                                             build.torch, kFirstTorchWithSdpa)};
    }
    if (!build.transformers.empty() && !at_least(build.transformers, kFirstTransformersWithSdpa)) {
      return {Attention::kEager,
              fmt::format("transformers {} computes it so for GPT-2 (sdpa since {})",
                          build.transformers, kFirstTransformersWithSdpa)};
    }
  }
  return any ? AutoAttention{Attention::kSdpa, "the default of transformers with these builds"}
             : AutoAttention{Attention::kEager, "no build is there"};
}

bool scale_shows(std::uint32_t head_width) {
  // √D is a power of two where D is one of four; dividing by it is then multiplying by 1/√D.
  return !std::has_single_bit(head_width) || std::countr_zero(head_width) % 2 != 0;
}

ScoreScale score_scale(const AttentionFacts& own, const std::vector<AttentionFacts>& builds) {
  if (!own.transformers.empty()) {
    return scale_of(own.transformers);
  }
  std::set<ScoreScale> known;
  for (const AttentionFacts& build : builds) {
    if (!build.transformers.empty()) {
      known.insert(scale_of(build.transformers));
    }
  }
  return known.size() == 1 ? *known.begin() : ScoreScale::kDivide;
}

}  // namespace drift
