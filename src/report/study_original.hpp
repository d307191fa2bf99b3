#pragma once

// What the study by hand that this command repeats found. These are facts about another machine and
// another model: GPT-2 small (124 M parameters), torch 1.10.1 and 1.13.1, float32, 4 threads on 4
// cores of an AMD EPYC 7713, which has AVX2 and no AVX-512. Source: that study's own document. They
// are shown for orientation, beside figures of the same measure only; nothing is computed from
// them.

#include <cstdint>

namespace drift::original {

inline constexpr const char* kCircumstances =
    "GPT-2 small, 4 threads on an AMD EPYC 7713 (AVX2), torch 1.10.1 and 1.13.1";

inline constexpr const char* kFirst = "1.10.1";
inline constexpr const char* kLast = "1.13.1";
inline constexpr const char* kPrompts = "eight";
inline constexpr std::uint32_t kNewTokens = 60;
inline constexpr const char* kOpenings = "alice-200";
inline constexpr std::uint64_t kOpeningPrompts = 200;
inline constexpr std::uint32_t kOpeningTokens = 100;

// The prompts.
inline constexpr const char* kUpgrade = "same; 6 of 8 first steps, ≤ 1.07e-04";
inline constexpr const char* kUpgradeSampled = "same";
inline constexpr const char* kKernels = "≤ 1.22e-04";
inline constexpr const char* kGenericUpgrade = "equal bit for bit";
inline constexpr const char* kThreads = "same; first steps ≤ 2.29e-05";

// The gaps.
inline constexpr const char* kDistinctSets = "3";
inline constexpr const char* kContinuations = "all equal";
inline constexpr const char* kSmallestGap = "3.66e-04, step 14 of \"So she set to work\"";
inline constexpr const char* kLargestChange = "1.72e-04";
inline constexpr const char* kMargin = "2.13";  // the quotient of the two above
inline constexpr const char* kMedianFirst = "0.70";
inline constexpr const char* kMedianLast = "6.27";

/// What neighbours in the range were found to be; null where nobody looked.
struct Neighbours {
  const char* before;
  const char* after;
  const char* found;
};
inline constexpr Neighbours kNeighbours[] = {{"1.10.1", "1.11.0", "equal"},
                                             {"1.11.0", "1.12.1", "other bits"},
                                             {"1.12.1", "1.13.1", "equal"},
                                             {"1.10.1", "1.13.1", "other bits"}};
inline constexpr const char* kNotTried = "1.12.0";

}  // namespace drift::original
