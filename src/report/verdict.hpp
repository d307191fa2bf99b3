#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// A command worth running next, and what it would tell.
struct Suggestion {
  std::string question;
  std::string command;
};

/// What all views say at their end.
struct Verdict {
  std::vector<std::string> warnings;  ///< what makes the rest doubtful; to be said first
  std::string headline;               ///< "same tokens, other bits"
  std::vector<std::string> details;   ///< clauses without a full stop
  std::vector<std::string> tripped;   ///< gates, each with what it found
  std::vector<Suggestion> next;
};

Verdict verdict_of(const Report& report);

/// What makes a report's figures doubtful: sides that don't repeat themselves or ran under other
/// conditions.
std::vector<std::string> side_warnings(const Report& report);

/// The gates that tripped, each with what it found.
std::vector<std::string> tripped_gates(const Report& report);

/// Commands worth running next, the most telling first; at most two.
std::vector<Suggestion> suggestions(const Report& report);

/// "A (january-2022)": a side of the report by its index into builds.
std::string side_name(const Report& report, std::size_t build);

/// What a change of token is attributed to, in words.
std::string cause_in_words(const std::optional<TokenChangeCause>& cause);

/// "1 step", "2 steps".
std::string counted(std::uint64_t count, const std::string& noun);

/// The largest change of a logit, as a lower bound where it is one: "≥ 7.63e-06".
std::string largest_change(const PromptComparison& prompt);

/// A logit or a difference of logits, to three digits.
std::string short_number(double value);

}  // namespace drift
