#include "report/sweep_check.hpp"

#include <algorithm>
#include <optional>

namespace drift {
namespace {

/// A cell that ran says how it ran and what it answered.
void check_state(const Place& sweep, std::size_t i, const SweepCell& cell) {
  const Place cells(sweep, "cells");
  const Place place(cells, i);
  if (cell.state != "failed" && !cell.ran_as) {
    throw Place(place, "ran_as").error("null, though the cell ran");
  }
  if (cell.state == "ran" && (!cell.digest || !cell.class_index)) {
    throw Place(place, cell.digest ? "class" : "digest").error("null, though the cell ran");
  }
}

}  // namespace

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
    check_state(place, i, sweep.cells[i]);
  }
  for (std::size_t i = 0; i < sweep.classes.size(); ++i) {
    for (const std::uint32_t cell : sweep.classes[i].cells) {
      require(cell, cells, "classes", i, "cells");
    }
  }
  for (std::size_t i = 0; i < sweep.knobs.size(); ++i) {
    if (sweep.knobs[i].values.empty()) {
      const Place knobs(place, "knobs");
      throw Place(Place(knobs, i), "values").error("empty: a knob has the base's value at least");
    }
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
