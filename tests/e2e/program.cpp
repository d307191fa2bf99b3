#include "e2e/program.hpp"

#include <algorithm>
#include <fstream>

#include "driftaudit/process.hpp"

#include "e2e/test_venvs.hpp"

namespace drift::e2e {

Command program_command(const std::vector<std::string>& arguments,
                        const std::filesystem::path& folder,
                        const std::map<std::string, std::string>& variables) {
  Command command;
  command.arguments = {DRIFTAUDIT_PROGRAM};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = current_environment();
  for (const auto& [name, value] : variables) {
    if (value.empty()) {
      command.environment->erase(name);
    } else {
      (*command.environment)[name] = value;
    }
  }
  command.working_folder = folder;
  return command;
}

ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::filesystem::path& folder,
                       const std::map<std::string, std::string>& variables) {
  const ProcessResult result = run_process(program_command(arguments, folder, variables));
  ProgramRun run;
  run.status = result.end.signal != 0 ? 128 + result.end.signal : result.end.exit_code;
  run.out = result.out;
  run.err = result.err;
  return run;
}

std::string january() {
  const auto python = test::find_python39();
  return python ? january_venv(*python).string() : "january-2022";
}

std::string december() {
  const auto python = test::find_python39();
  return python ? december_venv(*python).string() : "december-2022";
}

std::string newest() {
  const auto python = test::find_python39();
  return python ? last_4_venv(*python).string() : "2.8.0";
}

bool cpu_has_avx2() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    if (line.rfind("flags", 0) == 0) {
      return (line + " ").find(" avx2 ") != std::string::npos;
    }
  }
  return false;
}

std::string unwrapped(std::string text) {
  const std::string fold = "\n" + std::string(9, ' ');
  for (std::size_t at = text.find(fold); at != std::string::npos; at = text.find(fold, at)) {
    text.replace(at, fold.size(), " ");
  }
  return text;
}

bool has_one_error_line(const std::string& err) {
  if (err.rfind("error: ", 0) != 0) {
    return false;
  }
  const std::size_t end = err.find('\n');
  const std::string rest = end == std::string::npos ? "" : err.substr(end + 1);
  return rest.empty() || (rest.rfind("hint: ", 0) == 0 && rest.find('\n') == rest.size() - 1);
}

}  // namespace drift::e2e
