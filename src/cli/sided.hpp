#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/attention.hpp"
#include "driftaudit/conditions.hpp"

namespace drift {

/// Variables of each side's runner.
struct Sided {
  std::array<std::map<std::string, std::string>, 2> of;
};

/// Reads `--env` values: "A:NAME=VALUE", "B:…", "*:…" or "NAME=VALUE" for both; later ones win.
/// Errors (usage): no `=`, a name that no environment takes.
Sided parse_sided_environment(const std::vector<std::string>& values);

/// Reads `--threads` values: "4", "A:1", "*:2"; 1 where nothing is said. Errors (usage): not a
/// number from 1 to 1024.
std::vector<std::uint32_t> parse_sided_threads(const std::vector<std::string>& values);

/// Reads `--condition` values: "alignment=16", "B:denormals=flush". Errors (usage): no such
/// condition, or a value that it doesn't take.
std::vector<Conditions> parse_sided_conditions(const std::vector<std::string>& values);

/// Reads `--attention` values: "sdpa", "A:eager", "B:auto"; none of them for `auto`, and where
/// nothing is said. Errors (usage): no such attention.
std::array<std::optional<Attention>, 2> parse_sided_attention(
    const std::vector<std::string>& values);

}  // namespace drift
