#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "driftaudit/process.hpp"

namespace drift::e2e {

/// How the built program ended.
struct ProgramRun {
  int status = -1;  ///< exit status, or 128 + the signal
  std::string out;
  std::string err;
};

/// Runs the built program in `folder` with these variables on top of the caller's; an empty value
/// unsets one.
ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::filesystem::path& folder,
                       const std::map<std::string, std::string>& variables = {});

/// The command that run_program() runs.
Command program_command(const std::vector<std::string>& arguments,
                        const std::filesystem::path& folder,
                        const std::map<std::string, std::string>& variables = {});

/// Two builds whose softmax differs under AVX2: the January and the December venv where a Python
/// 3.9 is found (which other tests set up too, so that nothing is fetched twice), else their pins.
std::string january();
std::string december();

/// A build that has both kinds of attention: torch 2.8.0, in a venv beside transformers 4.57.6
/// where a Python 3.9 is found.
std::string newest();

/// Whether this CPU has what the study's facts hold under.
bool cpu_has_avx2();

/// A terminal's view with wrapped sentences on one line each.
std::string unwrapped(std::string text);

/// Matches the one error line that a failed run prints: "error: …" first and alone.
bool has_one_error_line(const std::string& err);

}  // namespace drift::e2e
