#include "report/swapped_answers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace drift {
namespace {

using Tokens = std::vector<std::int32_t>;
using Prompt = std::pair<std::string, std::uint32_t>;  ///< mode and number

Tokens tokens_of(const Run& run) {
  Tokens tokens;
  tokens.reserve(run.steps.size());
  for (const Step& step : run.steps) {
    tokens.push_back(step.token);
  }
  return tokens;
}

/// One side's answers, and whose each one is; none where several have it.
struct Answers {
  std::map<Prompt, Tokens> by_prompt;
  std::map<std::pair<std::string, Tokens>, std::optional<std::uint32_t>> owners;

  void add(const Run& run) {
    Tokens tokens = tokens_of(run);
    const auto [at, is_new] = owners.emplace(std::make_pair(run.mode, tokens), run.prompt);
    if (!is_new) {
      at->second.reset();
    }
    by_prompt.emplace(std::make_pair(run.mode, run.prompt), std::move(tokens));
  }
  std::optional<std::uint32_t> owner(const std::string& mode, const Tokens& tokens) const {
    const auto at = owners.find({mode, tokens});
    return at == owners.end() ? std::nullopt : at->second;
  }
};

}  // namespace

std::vector<std::string> swapped_answers(const Report& report) {
  std::array<Answers, 2> sides;
  for (const Run& run : report.runs) {
    if (run.build < sides.size() && run.mode != "score") {
      sides.at(run.build).add(run);
    }
  }
  std::vector<std::string> found;
  for (const auto& [prompt, tokens] : sides[0].by_prompt) {
    const auto& [mode, number] = prompt;
    const auto other = sides[1].owner(mode, tokens);
    const auto theirs = sides[1].by_prompt.find(prompt);
    if (!other || *other <= number || sides[0].owner(mode, tokens) != number ||
        theirs == sides[1].by_prompt.end() || sides[1].owner(mode, theirs->second) != number) {
      continue;
    }
    if (sides[0].owner(mode, theirs->second) == other) {
      found.push_back(
          fmt::format("swapped answers ({}): on side B prompts {} and {} have each "
                      "other's",
                      mode, number, *other));
    }
  }
  return found;
}

}  // namespace drift
