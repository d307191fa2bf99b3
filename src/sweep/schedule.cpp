#include "sweep/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "sweep/conclude.hpp"

namespace drift {
namespace {

std::size_t number_of(const std::map<std::string, std::string>& values, const char* knob,
                      std::size_t otherwise) {
  const auto at = values.find(knob);
  return at == values.end() ? otherwise : std::stoul(at->second);
}

bool is_reversed(const std::map<std::string, std::string>& values) {
  const auto order = values.find("prompt-order");
  return order != values.end() && order->second == "reversed";
}

/// Each batch of them, the last one may be smaller, turned by so many rows.
void turn_batches(std::size_t batch, std::size_t rows, std::vector<std::size_t>& prompts) {
  for (std::size_t first = 0; first < prompts.size(); first += batch) {
    const std::size_t size = std::min(batch, prompts.size() - first);
    const auto begin = prompts.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    std::rotate(begin, end - static_cast<std::ptrdiff_t>(rows % size), end);
  }
}

}  // namespace

std::vector<std::size_t> prompt_schedule(const std::map<std::string, std::string>& values,
                                         std::size_t count, std::size_t batch) {
  std::vector<std::size_t> once(count);
  std::iota(once.begin(), once.end(), std::size_t{0});
  if (is_reversed(values)) {
    std::reverse(once.begin(), once.end());
  }
  turn_batches(batch, number_of(values, "batch-position", 0), once);
  const std::size_t repeats = number_of(values, "repeats", 1);
  if (repeats > 1 && count % batch != 0) {
    throw usage_error(
        fmt::format("{} prompts in batches of {} can't be repeated: a batch would hold prompts of "
                    "two times",
                    count, batch),
        "sweep repeats and batch apart, or give a number of prompts that the batch divides");
  }
  std::vector<std::size_t> schedule;
  for (std::size_t time = 0; time < repeats; ++time) {
    schedule.insert(schedule.end(), once.begin(), once.end());
  }
  return schedule;
}

std::vector<Run> unscheduled(std::vector<Run> runs, const std::vector<std::size_t>& schedule,
                             std::optional<std::string>& parting) {
  std::map<std::size_t, std::pair<std::size_t, Run>>
      last;  // by prompt: how many times, and the run
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t prompt = schedule.at(i);
    runs[i].prompt = static_cast<std::uint32_t>(prompt + 1);
    auto [at, is_first] = last.try_emplace(prompt, 1, runs[i]);
    if (is_first) {
      continue;
    }
    auto& [times, run] = at->second;
    if (const auto step = first_difference(run, runs[i]); step && !parting) {
      parting =
          fmt::format("within one process time {} and {} differ from step {} of prompt {} ({}) on",
                      times, times + 1, *step, run.prompt, run.mode);
    }
    ++times;
    run = std::move(runs[i]);
  }
  std::vector<Run> result;
  result.reserve(last.size());
  for (auto& [prompt, entry] : last) {
    result.push_back(std::move(entry.second));
  }
  return result;
}

}  // namespace drift
