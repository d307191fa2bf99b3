#include <string_view>

#include "driftaudit/localize_record.hpp"

namespace drift {
namespace {

constexpr std::string_view kBlock = "block.";

}  // namespace

std::string operation_kind(const std::string& name) {
  const std::size_t dot =
      name.starts_with(kBlock) ? name.find('.', kBlock.size()) : std::string::npos;
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string operation_stage(const std::string& name) {
  if (name.starts_with(kBlock)) {
    return "block " + name.substr(kBlock.size(), name.find('.', kBlock.size()) - kBlock.size());
  }
  return name.starts_with("embed.") ? "embeddings" : name;
}

}  // namespace drift
