#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/audit.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// How the two builds of a study run.
enum class StudyCondition {
  kFirst,
  kLast,
  kLastAgain,     ///< the same once more
  kLastSingle,    ///< on one thread; all others on several
  kFirstGeneric,  ///< on kernels without vector instructions
  kLastGeneric
};
inline constexpr std::size_t kStudyConditions = 6;

/// "first", "last", "last again", "last, 1 thread", "first, generic", "last, generic".
const char* condition_name(StudyCondition condition);

/// A build between the first and the last.
struct RangeBuild {
  std::string label;
  std::optional<Side> side;  ///< as the first and the last run; null: it couldn't be had
  std::string reason;        ///< why not
};

/// A whole study.
struct StudyRequest {
  /// Prompts, settings and patience; no sides. Modes and cache are the study's own.
  AuditRequest base;
  PromptSet openings;  ///< of the texts whose gaps are looked at
  std::uint32_t opening_tokens = 100;
  bool quick = false;       ///< for the report: openings were cut
  bool until_flip = false;  ///< sampled text too
  std::array<Side, kStudyConditions> sides;
  std::vector<RangeBuild> between;
  /// Everything that answers depend on, as text: builds, model, prompts, settings, variables, the
  /// runner's sources, the machine.
  std::string identity;
};

/// Runs what is asked: run_audit() on the study's model.
using StudyRunner = std::function<Report(const AuditRequest& request, Progress& progress)>;

/// The study from prompts to closing figures, as a report of kind "study": the prompts in three
/// modes; the range build by build, each asked twice; generic kernels; one thread against several;
/// the gaps of six runs over the openings and from them how often a token would flip; with
/// `until_flip` the same on sampled text. A build between that fails is left out by name. What was
/// run is kept in the cache until the study is done: interrupted, even killed, the same request
/// goes on from there. Errors (trouble): the first or the last build failed.
Report run_study(const StudyRequest& request, const StudyRunner& run, Progress& progress);

}  // namespace drift
