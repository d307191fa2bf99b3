#include "builds/facts.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/pin.hpp"

#include "builds/elf.hpp"

namespace drift {
namespace {

std::string text_of(const fs::path& file) {
  return !file.empty() && fs::is_regular_file(file) ? read_file(file, 1 << 22) : "";
}

std::string first_word(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  return word;
}

/// The string that a Python script assigns to `name` at the start of a line, annotated or not.
std::string assigned_string(const std::string& script, const std::string& name) {
  const std::regex pattern("(^|\\n)" + name + "\\s*(:[^=\\n]*)?=\\s*['\"]([^'\"\\n]*)['\"]");
  std::smatch match;
  return std::regex_search(script, match, pattern) ? match[3].str() : "";
}

std::string version_macros(const std::string& header) {
  std::string version;
  for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
    std::smatch match;
    const std::regex pattern(fmt::format("#define\\s+TORCH_VERSION_{}\\s+([0-9]+)", part));
    if (!std::regex_search(header, match, pattern)) {
      return "";
    }
    version += (version.empty() ? "" : ".") + match[1].str();
  }
  return version;
}

/// Lines of a header with continued ones joined, without blank ones.
std::vector<std::string> logical_lines(const std::string& header) {
  std::vector<std::string> lines;
  std::istringstream physical(header);
  std::string joined;
  for (std::string line; std::getline(physical, line);) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    const bool continued = !line.empty() && line.back() == '\\';
    joined += continued ? line.substr(0, line.size() - 1) : line;
    if (!continued) {
      if (joined.find_first_not_of(" \t") != std::string::npos) {
        lines.push_back(joined);
      }
      joined.clear();
    }
  }
  return lines;
}

/// 20 for 202002L; 201703L and what came before are 17 to us.
int standard_of(const std::string& digits) {
  const int value = std::stoi(digits);
  return value > 202002 ? 23 : value > 201703 ? 20 : 17;
}

}  // namespace

std::string read_version(const BuildLayout& layout) {
  const std::string script = assigned_string(text_of(layout.version_script), "__version__");
  if (!script.empty()) {
    return script;
  }
  const std::string text = first_word(text_of(layout.version_text));
  if (!text.empty()) {
    return text;
  }
  const fs::path inside = fs::path("torch") / "version.h";
  for (const fs::path& header :
       {layout.header_folder / "torch/csrc/api/include" / inside,
        layout.header_folder / "torch/headeronly/version.h", layout.header_folder / inside}) {
    const std::string macros = version_macros(text_of(header));
    if (!macros.empty()) {
      return macros;
    }
  }
  return "unknown";
}

std::string read_commit(const BuildLayout& layout) {
  for (const std::string& commit : {assigned_string(text_of(layout.version_script), "git_version"),
                                    first_word(text_of(layout.commit_text))}) {
    if (std::regex_match(commit, std::regex("[0-9a-f]{40}"))) {
      return commit;
    }
  }
  return "";
}

std::string read_transformers(const BuildLayout& layout) {
  // "transformers-4.57.1.dist-info", or of older installers "transformers-4.15.0-py3.9.egg-info".
  constexpr std::string_view kStart = "transformers-";
  std::string version;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(layout.packages, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kStart) && (name.ends_with(".dist-info") || name.ends_with(".egg-info"))) {
      const std::string stem = entry.path().stem().string();
      const std::string found =
          stem.substr(kStart.size(), stem.find('-', kStart.size()) - kStart.size());
      version = version.empty() || release_before(version, found) ? found : version;
    }
  }
  return version;
}

StringAbi read_string_abi(const fs::path& libc10) {
  const auto constructors = dynamic_symbols(libc10, "_ZN3c105ErrorC");
  const auto any_has = [&](std::string_view part) {
    return std::any_of(constructors.begin(), constructors.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  };
  if (any_has("NSt7__cxx1112basic_string")) {
    return StringAbi::kNew;
  }
  if (any_has("Ss")) {
    return StringAbi::kOld;
  }
  throw trouble(
      fmt::format("{}: no constructor of c10::Error tells its string ABI", libc10.string()),
      "is this libc10 of PyTorch, and whole?");
}

int read_cxx_standard(const fs::path& header_folder) {
  const std::regex check("__cplusplus\\s*<\\s*([0-9]{6})L");
  int standard = 17;
  for (const char* name :
       {"ATen/ATen.h", "c10/util/C++17.h", "c10/macros/Macros.h", "c10/util/Exception.h",
        "torch/headeronly/macros/Macros.h", "torch/csrc/api/include/torch/all.h"}) {
    const std::vector<std::string> lines = logical_lines(text_of(header_folder / name));
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      std::smatch match;
      if (lines[i + 1].find("#error") != std::string::npos && lines[i].find("#") == 0 &&
          std::regex_search(lines[i], match, check)) {
        standard = std::max(standard, standard_of(match[1].str()));
      }
    }
  }
  return standard;
}

}  // namespace drift
