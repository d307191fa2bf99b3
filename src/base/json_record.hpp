#pragma once

#include <filesystem>
#include <optional>

#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

namespace drift {

/// What `read` makes of one of our small JSON files in the cache; nothing where the file is missing
/// or damaged, which is as good as none.
template <class Read>
auto from_json_record(const std::filesystem::path& file, const Read& read)
    -> std::optional<decltype(read(nlohmann::json()))> {
  constexpr std::uint64_t kMostBytes = 1U << 20U;
  try {
    return read(nlohmann::json::parse(read_file(file, kMostBytes)));
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace drift
