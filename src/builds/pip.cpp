#include "builds/pip.hpp"

#include <array>
#include <sstream>

#include <fmt/format.h>

#include "driftaudit/file.hpp"

namespace drift {
namespace {

/// Each names one file or folder.
constexpr std::array kPaths = {
    "PIP_CONFIG_FILE", "PIP_CERT",     "PIP_CLIENT_CERT", "PIP_CACHE_DIR",      "PIP_LOG",
    "SSL_CERT_FILE",   "SSL_CERT_DIR", "NETRC",           "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"};
/// Each is a list of what may be paths, as pip splits it.
constexpr std::array kLists = {"PIP_FIND_LINKS", "PIP_CONSTRAINT", "PIP_INDEX_URL",
                               "PIP_EXTRA_INDEX_URL", "PIP_PYTHON"};

std::string absolute(const std::string& path) {
  return path.empty() || path.starts_with('~') ? path : fs::absolute(path).string();
}

/// Of what isn't there nothing is known: an address, a name, a mistake that pip will report.
std::string absolute_if_there(const std::string& word) {
  std::error_code none;
  return !word.empty() && fs::exists(word, none) ? fs::absolute(word).string() : word;
}

std::string absolute_list(const std::string& value) {
  std::vector<std::string> words;
  std::istringstream list(value);
  for (std::string word; list >> word;) {
    words.push_back(absolute_if_there(word));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::map<std::string, std::string> with_absolute_pip_paths(
    std::map<std::string, std::string> environment) {
  for (const char* name : kPaths) {
    if (const auto at = environment.find(name); at != environment.end()) {
      at->second = absolute(at->second);
    }
  }
  for (const char* name : kLists) {
    if (const auto at = environment.find(name); at != environment.end()) {
      at->second = absolute_list(at->second);
    }
  }
  return environment;
}

Command pip_command(const std::vector<std::string>& arguments) {
  Command command{
      {"python3", "-I", "-m", "pip"}, with_absolute_pip_paths(current_environment()), {}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace drift
