#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// A word as a shell takes it.
std::string quoted(const std::string& word);

bool has_mode(const Report& report, const std::string& mode);

/// What an option adds to this report's own command; an option given here replaces the report's.
struct CommandChange {
  std::string options;
  bool prompts = true;             ///< keep the report's prompts
  bool new_tokens = true;          ///< keep the report's number of tokens
  std::string replaced_knob = "";  ///< a variable that the options set otherwise
  std::string verb = "audit";      ///< or another command that takes two sides
};

/// The report's model, where it was asked for by name.
void append_model(const ModelRecord& model, std::string& command);

/// The size of batches, where prompts ran in some.
void append_batch(const SettingsRecord& settings, std::string& command);

/// " --env NAME=VALUE" with a side before it, or with none.
void append_knob(const std::string& side, const std::string& name, const std::string& value,
                 std::string& command);

/// Variables and threads, for both sides at once where they agree. `but`: a variable that is to be
/// set otherwise.
void append_knobs(const std::vector<BuildRecord>& builds, const std::string& but,
                  std::string& command);

/// " --condition NAME=VALUE" for each that isn't the default, likewise.
void append_conditions(const std::vector<BuildRecord>& builds, std::string& command);

/// " --attention KIND" where `auto` would choose another for these builds: for all at once where
/// they agree, else by sides.
void append_attention(const std::vector<BuildRecord>& builds, std::string& command);

/// This report's audit again, with a change. Only options that aren't defaults are spelt out.
std::string audit_command(const Report& report, const CommandChange& change);

}  // namespace drift
