#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/interrupt.hpp"

#include "cli/command.hpp"

namespace drift {
namespace {

/// The one place where errors are printed.
int report_error(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.what());
  if (!error.hint().empty()) {
    fmt::print(stderr, "hint: {}\n", error.hint());
  }
  return static_cast<int>(error.status());
}

/// What is wrong with a command line, with the help that tells more.
Error usage_problem(const CLI::App& app, int argc, char** argv, const std::string& what) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  if (!given.empty()) {
    const bool bisects = std::find(argv, argv + argc, std::string_view(kBisectRun)) != argv + argc;
    return {bisects ? Status::kBisectStop : Status::kUsage, what,
            "see driftaudit " + given.front()->get_name() + " --help"};
  }
  const std::string word = argc > 1 ? argv[1] : "";
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  const std::string hint = "commands: " + names + "; see driftaudit --help";
  if (word.empty()) {
    return usage_error("no command is given", hint);
  }
  return usage_error(word[0] == '-' ? what : word + ": no such command", hint);
}

int run(int argc, char** argv) {
  CLI::App app(
      "did this libtorch upgrade change my model's answers, by how much, and how close was "
      "the nearest token to flipping?",
      "driftaudit");
  app.set_version_flag("--version", kTool);
  app.require_subcommand(1);
  Action action;
  add_audit_command(app, action);
  add_record_command(app, action);
  add_compare_command(app, action);
  add_show_command(app, action);
  add_bisect_command(app, action);
  add_localize_command(app, action);
  add_reveal_command(app, action);
  add_sweep_command(app, action);
  add_rescore_command(app, action);
  add_study_command(app, action);
  add_builds_command(app, action);
  add_model_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      return app.exit(error);
    }
    return report_error(usage_problem(app, argc, argv, error.what()));
  }
  try {
    install_interrupt_handlers();
    const Status status = action();
    if (std::fflush(stdout) != 0) {
      throw std::system_error(errno, std::generic_category());
    }
    return static_cast<int>(status);
  } catch (const Error& error) {
    return report_error(error);
  } catch (const std::bad_alloc&) {
    return report_error(trouble("out of memory"));
  } catch (const std::filesystem::filesystem_error& error) {
    return report_error(usage_error(
        fmt::format("{}: {}", error.path1().string(), error.code().message()), "check the path"));
  } catch (const std::system_error& error) {  // what printing throws
    return report_error(
        usage_error(fmt::format("stdout can't be written: {}", error.code().message()),
                    "check where it is sent"));
  } catch (const std::exception& error) {
    return report_error(trouble(error.what()));
  }
}

}  // namespace

std::unique_ptr<Progress> progress_for(bool quiet) {
  return quiet ? make_silent_progress() : make_terminal_progress();
}

}  // namespace drift

int main(int argc, char** argv) { return drift::run(argc, argv); }
