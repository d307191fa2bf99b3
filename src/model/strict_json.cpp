#include "model/strict_json.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/lfs_pointer.hpp"
#include "model/shown.hpp"

namespace drift {

nlohmann::json parse_strict_json(std::string_view text, const std::string& where) {
  refuse_lfs_pointer(text, where);
  using Event = nlohmann::json::parse_event_t;
  constexpr int kMaxDepth = 32;
  std::vector<std::set<std::string>> keys;  // of the open objects
  const auto check = [&](int depth, Event event, nlohmann::json& parsed) {
    if (depth > kMaxDepth) {
      throw usage_error(fmt::format("{}: nested deeper than {}", where, kMaxDepth));
    }
    if (event == Event::object_start) {
      keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) {
        throw usage_error(fmt::format("{}: the key \"{}\" stands there twice", where, shown(key)));
      }
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    throw usage_error(fmt::format("{}: not JSON at byte {}{}", where, error.byte,
                                  line > 1 ? fmt::format(", line {}", line) : ""));
  } catch (const nlohmann::json::exception&) {  // a number beyond double's range
    throw usage_error(fmt::format("{}: holds a number that is too large", where));
  }
}

}  // namespace drift
