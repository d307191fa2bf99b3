#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/candidates.hpp"
#include "driftaudit/measure.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/question.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// A whole bisection.
struct BisectRequest {
  std::vector<Candidate> candidates;     ///< two or more
  std::string prompts;                   ///< for the report: the set's name
  SettingsRecord settings;               ///< for the report
  Measure measure;                       ///< for the report
  std::optional<std::string> operation;  ///< for the report: the one that is asked for
  bool all = false;                      ///< every boundary
  bool exhaustive = false;               ///< with `all`: assume nothing
  bool keep = false;                     ///< leave what was installed
  std::function<Side(const Candidate&)> open;
  /// What answers depend on besides all this, as text: see running_circumstances().
  std::string circumstances;
};

/// Bisects, and says what came of it in a report of kind "bisect". An interruption leaves what is
/// known in the cache, and the builds at which the search stood; the same request goes on from
/// there. Errors: as for bisect(); all builds that it installed are removed then.
Report run_bisect(const BisectRequest& request, const Question& question, Progress& progress);

}  // namespace drift
