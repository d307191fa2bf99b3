#include "driftaudit/paths.hpp"

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/process.hpp"

namespace drift {

namespace fs = std::filesystem;

fs::path cache_folder() {
  const auto absolute = [](const char* name, const std::string& value) {
    if (!fs::path(value).is_absolute()) {
      throw usage_error(fmt::format("{}={}: not an absolute path", name, value));
    }
    return fs::path(value);
  };
  if (const std::string own = environment_value("DRIFTAUDIT_CACHE"); !own.empty()) {
    return absolute("DRIFTAUDIT_CACHE", own);
  }
  if (const std::string xdg = environment_value("XDG_CACHE_HOME"); !xdg.empty()) {
    return absolute("XDG_CACHE_HOME", xdg) / "driftaudit";
  }
  if (const std::string home = environment_value("HOME"); !home.empty()) {
    return absolute("HOME", home) / ".cache" / "driftaudit";
  }
  throw usage_error("no place for the cache: neither HOME nor XDG_CACHE_HOME is set",
                    "set DRIFTAUDIT_CACHE to a folder");
}

fs::path data_folder() {
  if (const std::string own = environment_value("DRIFTAUDIT_DATA"); !own.empty()) {
    if (!fs::is_directory(own)) {
      throw usage_error(fmt::format("DRIFTAUDIT_DATA={}: no such folder", own));
    }
    return own;
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed = program.parent_path().parent_path() / "share" / "driftaudit";
  if (!error && fs::is_directory(installed)) {
    return installed;
  }
  fs::path source = DRIFTAUDIT_SOURCE_FOLDER;
  if (fs::is_directory(source / "venvs")) {
    return source;
  }
  throw usage_error(fmt::format("the shipped data is neither in {} nor in {}", installed.string(),
                                source.string()),
                    "set DRIFTAUDIT_DATA to the folder that holds venvs/ and prompts/");
}

fs::path runner_source_folder() {
  const fs::path data = data_folder();
  const fs::path installed = data / "runner";
  return fs::is_directory(installed) ? installed : data / "src" / "runner";
}

}  // namespace drift
