#pragma once

#include <string>
#include <vector>

#include "driftaudit/audit.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/reveal_operation.hpp"

namespace drift {

/// One operation, asked of some builds at some lengths.
struct RevealRequest {
  std::vector<Side> sides;           ///< one or more, none of them saved
  std::vector<std::size_t> lengths;  ///< in the order in which they are told
  OrderQuestion question;            ///< but for its length and lanes
  double timeout_seconds = 300;
};

/// Reveals the order of each build at each length, and says what came of it in a report of kind
/// "reveal"; neighbouring builds are compared. Each operation that is needed runs in a process of
/// its own. Errors: as reveal_operation().
Report run_reveal(const RevealRequest& request, Progress& progress);

}  // namespace drift
