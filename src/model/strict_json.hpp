#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace drift {

/// Parses JSON that came from elsewhere. Errors (usage) begin with `where`: not JSON (with the
/// byte) but a Git LFS pointer, a key twice in one object, nested deeper than 32.
nlohmann::json parse_strict_json(std::string_view text, const std::string& where);

}  // namespace drift
