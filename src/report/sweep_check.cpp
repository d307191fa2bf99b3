#include "report/sweep_check.hpp"

#include <algorithm>
#include <optional>

namespace drift {

void check_sweep(const Place& root, const Report& report) {
  const SweepRecord& sweep = *report.sweep;
  const Place place(root, "sweep");
  const auto require = [&](std::optional<std::uint64_t> index, std::size_t size, const char* list,
                           std::size_t i,
                           const char* key) { require_index(place, list, i, key, index, size); };
  const std::size_t cells = sweep.cells.size();
  for (std::size_t i = 0; i < cells; ++i) {
    require(sweep.cells[i].class_index, sweep.classes.size(), "cells", i, "class");
    require(sweep.cells[i].ran_as, report.builds.size(), "cells", i, "ran_as");
  }
  for (std::size_t i = 0; i < sweep.classes.size(); ++i) {
    for (const std::uint32_t cell : sweep.classes[i].cells) {
      require(cell, cells, "classes", i, "cells");
    }
  }
  for (std::size_t i = 0; i < sweep.knobs.size(); ++i) {
    if (const auto& pair = sweep.knobs[i].differing) {
      require(std::max(pair->a, pair->b), cells, "knobs", i, "differing");
    }
    if (sweep.knobs[i].failures && sweep.knobs[i].failures->first) {
      const SweepPair& pair = *sweep.knobs[i].failures->first;
      require(std::max(pair.a, pair.b), cells, "knobs", i, "failures");
    }
    if (const auto& pair = sweep.knobs[i].other_kernels) {
      require(std::max(pair->a, pair->b), cells, "knobs", i, "other_kernels");
    }
    if (const auto& change = sweep.knobs[i].first_token_change) {
      require(std::max(change->cells.a, change->cells.b), cells, "knobs", i, "first_token_change");
    }
  }
}

}  // namespace drift
