#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/bisect_record.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// The least that reports keep of each step's logits: tokens and digests are all that most measures
/// look at.
inline constexpr std::uint32_t kLeastKept = 2;

/// By what two builds count as equal.
struct Measure {
  enum class Kind {
    kBits,    ///< every logit of every compared step is the same bytes
    kTokens,  ///< every chosen token is the same
    kLogits,  ///< no logit of a compared step differs by more than `most`
  };
  Kind kind = Kind::kBits;
  double most = 0;  ///< of kLogits

  std::string name() const;  ///< "bits", "tokens", "max-logit-diff"
};

/// What one build answered: a report of one side, and its logits where the measure needs them.
struct Answer {
  const Report* report = nullptr;  ///< not owned
  /// All logits of a step, by index into runs[] and into its steps.
  std::function<std::vector<float>(std::size_t run, std::size_t step)> logits;
};

/// Whether two answers are equal under the measure, in all runs or in a part. Steps are compared up
/// to and with the first changed token of a run: after it the contexts differ. An answer to a part
/// may stand for either side: it holds that part alone. Errors (trouble): a run is missing from one
/// of the two.
bool equal_answers(const Answer& a, const Answer& b, const Measure& measure,
                   const std::optional<BisectPart>& part);

/// The cheapest part in which two answers still differ: the fewest steps, then the shortest prompt.
/// A scored text isn't cut, since the shapes of its forward pass are those of the whole. The two
/// must differ.
BisectPart cheapest_part(const Answer& a, const Answer& b, const Measure& measure);

/// A digest over every step of an answer: tokens and logits.
std::string answer_digest(const Report& report);

}  // namespace drift
