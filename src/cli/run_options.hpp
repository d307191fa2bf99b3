#pragma once

#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "driftaudit/audit.hpp"

namespace drift {

/// The options that say what is run, shared by the commands that run builds.
struct RunOptions {
  std::string model = "auto";
  std::string output_head;  ///< "tied", "stored"; empty: as config.json says
  std::string prompts = "eight";
  std::string text;
  SettingsRecord settings;
  bool no_cache = false;
  std::vector<std::string> threads;
  std::vector<std::string> environment;
  std::vector<std::string> conditions;
  std::vector<std::string> attention;
  double runner_timeout = 300;
  bool offline = false;
  std::set<std::string> given;  ///< those named on the command line: "--seed"
};

/// Adds them to a command. `modes` is the default of `--mode`.
void add_run_options(CLI::App& command, RunOptions& options, std::vector<std::string> modes);

/// Those of them that say how runners are started, for commands that run no model: threads,
/// variables, patience, no network.
void add_runner_options(CLI::App& command, RunOptions& options);

/// Fills `given`; to be called when the command line has been parsed.
void note_given(const CLI::App& command, RunOptions& options);

/// What the parser alone can't see. Errors (usage).
void check_run_options(const RunOptions& options);

/// That no batch is to be fed another side's tokens. Errors (usage).
void check_batch(const SettingsRecord& settings);

/// Refuses `A:` and `B:` where all builds run alike, as `why` says. Errors (usage).
void check_alike(const RunOptions& options, const std::string& why);

/// The files that are read: of the options, and those named besides.
std::vector<std::string> input_files(const RunOptions& options, std::vector<std::string> others);

bool has_mode(const RunOptions& options, const std::string& mode);

/// What the sides are asked to do; the sides themselves are still to come.
AuditRequest request_of(const RunOptions& options, const Model& model);

/// How the model is to be opened.
ModelOptions model_options(const RunOptions& options);

/// The model that is asked for.
Model open_run_model(const RunOptions& options, Progress& progress);

/// Says which of the caller's variables the runners aren't given.
void note_dropped(const RunnerEnvironment& environment, Progress& progress);

/// The same for a side (once, for the first one), and that it has more threads than there are
/// cores.
void note_side(const Side& side, std::size_t index, Progress& progress);

/// A build as a side: opened, its runner compiled. `index` is 0 for A, 1 for B. `attention` is what
/// was planned for it.
Side open_side(const std::string& name, std::size_t index, const RunOptions& options,
               SideAttention attention, Progress& progress);

}  // namespace drift
