#include "model/tensor_names.hpp"

#include <algorithm>
#include <array>

namespace drift {
namespace {

using namespace std::string_view_literals;

/// What containers of a model put before its names: DataParallel, Lightning, transformers itself.
constexpr std::array kContainers = {"module"sv, "model"sv, "transformer"sv};
/// What wrappers of a module put between its name and its own names, at any depth.
constexpr std::array kWrappers = {"_orig_mod"sv, "_fsdp_wrapped_module"sv,
                                  "_checkpoint_wrapped_module"sv};
constexpr std::array kOtherHeads = {"v_head"sv, "multiple_choice_head"sv, "score"sv, "classifier"sv,
                                    "qa_outputs"sv};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether the name is "h.", a number and `rest`.
bool is_in_block(std::string_view name, std::string_view rest) {
  if (!name.starts_with("h.")) {
    return false;
  }
  const std::size_t dot = name.find_first_not_of("0123456789", 2);
  return dot != std::string_view::npos && dot > 2 && name.substr(dot) == rest;
}

}  // namespace

std::string gpt2_tensor_name(std::string_view stored) {
  std::string name;
  bool leading = true;
  for (;;) {
    const std::size_t dot = stored.find('.');
    const std::string_view part = stored.substr(0, dot);
    if (dot == std::string_view::npos) {
      return name.append(part);
    }
    stored.remove_prefix(dot + 1);
    if (is_one_of(kWrappers, part) || (leading && is_one_of(kContainers, part))) {
      continue;
    }
    leading = false;
    name.append(part).append(".");
  }
}

bool is_mask(std::string_view name) { return is_in_block(name, ".attn.bias"); }

bool is_masked_value(std::string_view name) { return is_in_block(name, ".attn.masked_bias"); }

std::string_view other_head(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('.'));
  return first.size() < name.size() && is_one_of(kOtherHeads, first) ? first : std::string_view();
}

}  // namespace drift
