#include "driftaudit/candidates.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

namespace drift {
namespace {

std::size_t index_of(const std::vector<Pin>& pins, const std::string& side) {
  const Pin* pin = find_pin(pins, side);
  if (pin == nullptr) {
    const bool path = side.find('/') != std::string::npos || fs::exists(side);
    throw usage_error(side + (path ? ": not a release" : ": unknown release"),
                      path ? "for builds in folders, list them in a file, in order: --builds FILE"
                           : unknown_release_hint(pins, side));
  }
  return static_cast<std::size_t>(pin - pins.data());
}

Candidate candidate_of(const Pin& pin, const std::string& label) {
  std::string identity = "torch " + pin.version;
  for (const PinnedWheel& wheel : pin.wheels()) {
    identity += " " + wheel.sha256;
  }
  return {label, pin.version, pin.released, std::move(identity)};
}

/// A line of a list, and where it stands.
struct ListedBuild {
  Candidate candidate;
  std::string text;
  std::size_t line = 0;
};

std::string trimmed(const std::string& line) {
  constexpr const char* kSpaces = " \t\r";
  const std::size_t begin = line.find_first_not_of(kSpaces);
  return begin == std::string::npos
             ? ""
             : line.substr(begin, line.find_last_not_of(kSpaces) + 1 - begin);
}

/// A line as a candidate. A path relative to the list becomes one that a command takes as well.
Candidate candidate_of(const std::string& text, const fs::path& list,
                       const std::vector<Pin>& pins) {
  if (const Pin* pin = find_pin(pins, text)) {
    return candidate_of(*pin, text);
  }
  if (text.starts_with("~")) {
    return {text, text, "", ""};
  }
  const fs::path path = (list.parent_path() / text).lexically_normal();
  return {path.string(), fs::absolute(path).lexically_normal().string(), "", ""};
}

std::vector<ListedBuild> read_list(const fs::path& file, const std::vector<Pin>& pins) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  std::istringstream lines(read_file(file, kMostBytes));
  std::vector<ListedBuild> builds;
  std::map<std::string, std::size_t> seen;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string text = trimmed(line);
    if (text.empty() || text[0] == '#') {
      continue;
    }
    if (text.find('\0') != std::string::npos) {
      throw usage_error(fmt::format("{}:{}: not text", file.string(), number),
                        "a list names one build a line");
    }
    Candidate candidate = candidate_of(text, file, pins);
    const auto [other, is_new] = seen.emplace(candidate.side, number);
    if (!is_new) {
      throw usage_error(fmt::format("{}:{}: {} stands in line {} already", file.string(), number,
                                    text, other->second),
                        "name each build once");
    }
    builds.push_back({std::move(candidate), text, number});
  }
  if (builds.size() < 2) {
    throw usage_error(fmt::format("{}:{}: {} in the list, and a bisection takes two or more",
                                  file.string(), number, builds.empty() ? "no build" : "one build"),
                      "one build a line: a folder, a wheel file or a release");
  }
  return builds;
}

std::size_t index_in(const std::vector<ListedBuild>& builds, const fs::path& file,
                     const std::vector<Pin>& pins, const std::string& name) {
  const Pin* pin = find_pin(pins, name);
  const std::string path = fs::absolute(name).lexically_normal().string();
  for (std::size_t i = 0; i < builds.size(); ++i) {
    const Candidate& candidate = builds[i].candidate;
    if (builds[i].text == name || candidate.label == name ||
        candidate.side == (pin != nullptr ? pin->version : path)) {
      return i;
    }
  }
  throw usage_error(fmt::format("{}: not in the list {}", name, file.string()),
                    "name it as the list does");
}

}  // namespace

std::vector<Candidate> release_candidates(const std::vector<Pin>& pins, const std::string& first,
                                          const std::string& last) {
  const std::size_t begin = index_of(pins, first);
  const std::size_t end = index_of(pins, last);
  if (begin == end) {
    throw usage_error(fmt::format("{} and {} are the same release", first, last),
                      "name two releases");
  }
  if (begin > end) {
    throw usage_error(fmt::format("{} is a later release than {}", first, last),
                      fmt::format("driftaudit bisect {} {}", last, first));
  }
  std::vector<Candidate> candidates;
  for (std::size_t i = begin; i <= end; ++i) {
    candidates.push_back(candidate_of(pins[i], pins[i].version));
  }
  return candidates;
}

std::vector<Candidate> listed_candidates(const fs::path& file, const std::vector<Pin>& pins,
                                         const std::string& first, const std::string& last) {
  const std::vector<ListedBuild> builds = read_list(file, pins);
  const std::size_t begin = first.empty() ? 0 : index_in(builds, file, pins, first);
  const std::size_t end = last.empty() ? builds.size() - 1 : index_in(builds, file, pins, last);
  if (begin >= end) {
    throw usage_error(
        fmt::format("{}:{}: {} doesn't come before {} (line {})", file.string(), builds[begin].line,
                    builds[begin].text, builds[end].text, builds[end].line),
        "a list goes from the oldest build to the newest");
  }
  std::vector<Candidate> candidates;
  for (std::size_t i = begin; i <= end; ++i) {
    candidates.push_back(builds[i].candidate);
  }
  return candidates;
}

}  // namespace drift
