#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drift {

/// The cheapest part of what was asked that still separated the first build from a later one.
struct BisectPart {
  std::string mode;
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t steps = 0;   ///< its first ones
};

/// One build of the range, in its order.
struct BisectCandidate {
  std::string label;
  std::string released;  ///< "2022-03-10", of releases; else empty
  /// "full": all was asked; "part": a part; "assumed": nothing, since what lies around it is equal;
  /// "untested": nothing, and nothing follows for it; "skipped": it couldn't be had.
  std::string state;
  std::optional<bool> equals_first;          ///< in what was asked last
  std::optional<std::uint32_t> class_index;  ///< into classes, of those asked in full
  std::optional<std::string> digest;         ///< over all that it answered; its state says to what
};

/// Two neighbours, but for skipped ones, that differ.
struct BisectBoundary {
  std::string before;
  std::string after;
  bool proved = false;               ///< nothing lies between them
  std::vector<std::string> between;  ///< skipped ones: the change came with one of them or `after`
};

struct BisectSkip {
  std::string label;
  std::string reason;
};

/// What a bisection adds to a report.
struct BisectRecord {
  std::string measure = "bits";          ///< or "tokens", "max-logit-diff"
  std::optional<double> max_logit_diff;  ///< above which a logit counts as changed
  std::optional<std::string> operation;  ///< asked for alone, without a model: "softmax"
  bool all = false;
  bool exhaustive = false;
  bool ends_equal = false;
  std::uint64_t probes = 0;  ///< builds asked, once for each question
  std::optional<BisectPart> part;
  std::vector<BisectCandidate> candidates;
  std::vector<BisectBoundary> boundaries;
  std::vector<std::vector<std::string>> classes;  ///< labels of equal builds asked in full
  std::vector<BisectSkip> skipped;
  std::vector<std::string> assumed;
};

}  // namespace drift
