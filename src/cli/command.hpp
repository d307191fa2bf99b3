#pragma once

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/progress.hpp"

namespace drift {

/// What reports say that they were written by.
inline constexpr const char* kTool = "driftaudit " DRIFTAUDIT_VERSION;

/// audit's option for `git bisect run`; with it a bad command line has a status of its own.
inline constexpr const char* kBisectRun = "--bisect-run";

/// What a parsed command line will do; its result is the exit status.
using Action = std::function<Status()>;

/// Each adds one command to the program; when the command is the one given, `action` is set.
/// A command's options live in a struct owned by its action.
void add_audit_command(CLI::App& app, Action& action);
void add_record_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_show_command(CLI::App& app, Action& action);
void add_bisect_command(CLI::App& app, Action& action);
void add_localize_command(CLI::App& app, Action& action);
void add_reveal_command(CLI::App& app, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_rescore_command(CLI::App& app, Action& action);
void add_study_command(CLI::App& app, Action& action);
void add_builds_command(CLI::App& app, Action& action);
void add_model_command(CLI::App& app, Action& action);

/// The progress that a command shows: none with `--quiet`.
std::unique_ptr<Progress> progress_for(bool quiet);

}  // namespace drift
