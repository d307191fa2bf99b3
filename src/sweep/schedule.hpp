#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// The prompts of a cell in the order in which they run in its process, as indices into `count` of
/// them: by its `prompt-order`; then within each `batch` of them turned in a circle, so that each
/// stands as many rows further down as its `batch-position` says; all of them as many times as its
/// `repeats` says. Errors (usage): a batch would hold prompts of two times.
std::vector<std::size_t> prompt_schedule(const std::map<std::string, std::string>& values,
                                         std::size_t count, std::size_t batch = 1);

/// `items` as the schedule has them.
template <class T>
std::vector<T> scheduled(const std::vector<T>& items, const std::vector<std::size_t>& schedule) {
  std::vector<T> result;
  result.reserve(schedule.size());
  for (const std::size_t index : schedule) {
    result.push_back(items.at(index));
  }
  return result;
}

/// One mode's runs in the order in which they ran, back under the prompts' own numbers: of each
/// prompt its last time. `parting` says where a prompt's times differ among themselves, if they do
/// and it is still empty.
std::vector<Run> unscheduled(std::vector<Run> runs, const std::vector<std::size_t>& schedule,
                             std::optional<std::string>& parting);

}  // namespace drift
