#include "model/config_keys.hpp"

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/shown.hpp"
#include "model/strict_json.hpp"

namespace drift {

ConfigKeys::ConfigKeys(const fs::path& file)
    : where_(file.string()), json_(parse_strict_json(read_file(file, 1U << 20), where_)) {
  if (!json_.is_object()) {
    fail("is not a JSON object");
  }
}

void ConfigKeys::fail(const std::string& what, const std::string& hint) const {
  throw usage_error(fmt::format("{}: {}", where_, what), hint);
}

const nlohmann::json* ConfigKeys::find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() ? nullptr : &*found;
}

const nlohmann::json* ConfigKeys::find_set(const char* key) const {
  const nlohmann::json* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::uint32_t ConfigKeys::size(const char* key, std::uint32_t most) const {
  const nlohmann::json& value = json_.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
      value.get<std::uint64_t>() > most) {
    fail(fmt::format("\"{}\" is {}, not a whole number from 1 to {}", key, shown(value.dump()),
                     most));
  }
  return value.get<std::uint32_t>();
}

bool ConfigKeys::flag(const char* key, bool otherwise) const {
  const nlohmann::json* value = find(key);
  if (value != nullptr && !value->is_boolean()) {
    fail(fmt::format("\"{}\" is {}, neither true nor false", key, shown(value->dump())));
  }
  return value == nullptr ? otherwise : value->get<bool>();
}

}  // namespace drift
