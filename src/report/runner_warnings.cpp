#include "report/runner_warnings.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/utf8.hpp"

namespace drift {
namespace {

constexpr std::size_t kMostNamed = 4;
constexpr std::size_t kMostLines = 3;
constexpr std::size_t kMostColumns = 240;  ///< of one line

/// A line without what torch puts before a warning, which tells the time and the thread: "[W
/// Utils.cpp:12] ", "[W1130 07:32:10.123456789 Utils.cpp:12] ".
std::string_view without_prefix(std::string_view line) {
  const std::size_t end = line.find("] ");
  const bool has_prefix = line.size() > 2 && line[0] == '[' && (line[1] == 'W' || line[1] == 'E') &&
                          end != std::string_view::npos;
  return has_prefix ? line.substr(end + 2) : line;
}

/// The lines that a runner printed, each once, in order.
std::vector<std::string> printed_lines(const std::string& log) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string_view line = without_prefix(std::string_view(log).substr(at, end - at));
    const bool blank =
        std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c) != 0; });
    if (!blank && std::find(lines.begin(), lines.end(), line) == lines.end()) {
      lines.emplace_back(line);
    }
    at = end + 1;
  }
  return lines;
}

std::string printed(const std::string& log) {
  const std::vector<std::string> lines = printed_lines(log);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostLines, lines.size()); ++i) {
    text += (i == 0 ? "" : "; ") + shortened(visible(lines[i]), kMostColumns);
  }
  if (lines.size() > kMostLines) {
    text += fmt::format("; and {} other lines (the report has them)", lines.size() - kMostLines);
  }
  return text;
}

/// Words with those that they are of, in the order in which they were first said.
class Said {
 public:
  void add(std::string words, std::size_t build) {
    const auto at = std::find_if(said_.begin(), said_.end(),
                                 [&](const auto& entry) { return entry.first == words; });
    if (at == said_.end()) {
      said_.emplace_back(std::move(words), std::vector<std::size_t>{build});
    } else {
      at->second.push_back(build);
    }
  }
  template <class Append>
  void for_each(const Append& append) const {
    for (const auto& [words, builds] : said_) {
      append(words, builds);
    }
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::size_t>>> said_;
};

std::string names(const std::vector<std::size_t>& builds,
                  const std::function<std::string(std::size_t)>& name_of) {
  std::string text;
  const std::size_t shown = std::min(kMostNamed, builds.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == builds.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + name_of(builds[i]);
  }
  return shown == builds.size() ? text : text + fmt::format(" and {} more", builds.size() - shown);
}

}  // namespace

std::string doubt_in_words(const DoubtfulSetting& setting) {
  const std::string what = visible(setting.name + "=" + setting.value);
  return setting.state == "not_honoured"
             ? fmt::format("{} isn't honoured: {}", what, visible(setting.answer))
             : fmt::format("whether {} is honoured can't be known: {}", what,
                           visible(setting.answer));
}

std::vector<std::string> runner_warnings(const std::vector<BuildRecord>& builds,
                                         const std::function<std::string(std::size_t)>& name_of) {
  Said doubts;
  Said prints;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    for (const DoubtfulSetting& setting : builds[i].doubtful_settings) {
      doubts.add(doubt_in_words(setting), i);
    }
    if (std::string words = printed(builds[i].log); !words.empty()) {
      prints.add(std::move(words), i);
    }
  }
  std::vector<std::string> warnings;
  doubts.for_each([&](const std::string& words, const std::vector<std::size_t>& of) {
    warnings.push_back(fmt::format("{}: {}", names(of, name_of), words));
  });
  prints.for_each([&](const std::string& words, const std::vector<std::size_t>& of) {
    warnings.push_back(fmt::format("{} printed: {}", names(of, name_of), words));
  });
  return warnings;
}

}  // namespace drift
