#include "cli/attention_options.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"

#include "base/transformers_calls.hpp"
#include "cli/sided.hpp"

namespace drift {
namespace {

/// "1.13.1", "~/venv (torch 1.13.1)".
std::string with_version(const std::string& build, const AttentionFacts& facts) {
  return build == facts.torch ? "torch " + build : fmt::format("{} (torch {})", build, facts.torch);
}

/// Of a build that isn't there nothing is said: opening it will say what is wrong.
void require_able(const std::string& build, const AttentionFacts& facts, Attention kind,
                  const std::string& asked, const std::string& hint) {
  if (kind == Attention::kSdpa && !facts.torch.empty() && !has_sdpa(facts.torch)) {
    throw usage_error(
        fmt::format("{}: {} takes torch {} or newer, the first for which transformers use "
                    "scaled_dot_product_attention",
                    with_version(build, facts), asked, kFirstTorchWithSdpa),
        hint);
  }
}

std::optional<std::string> known(const std::string& version) {
  return version.empty() ? std::nullopt : std::optional(version);
}

}  // namespace

std::vector<SideAttention> planned_attention(const RunOptions& options,
                                             const std::vector<std::string>& builds) {
  const auto asked = parse_sided_attention(options.attention);
  std::vector<AttentionFacts> facts;
  std::transform(builds.begin(), builds.end(), std::back_inserter(facts), attention_facts);
  const AutoAttention chosen = auto_attention(facts);
  std::vector<SideAttention> planned;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    const std::optional<Attention> own = asked.at(std::min<std::size_t>(i, 1));
    if (own) {
      require_able(builds[i], facts[i], *own, "--attention sdpa",
                   "--attention eager is what every build has; auto chooses what all builds of a "
                   "run have");
    }
    SideAttention& side = planned.emplace_back();
    side.kind = own.value_or(chosen.kind);
    side.scale = score_scale(facts[i], facts);
    side.choice = own ? "--attention" : "auto: " + chosen.why;
    side.transformers = known(followed_transformers(facts[i], facts));
  }
  return planned;
}

SideAttention attention_beside(const SavedSide& saved, const RunOptions& options,
                               const std::string& build, std::size_t live) {
  const std::optional<Attention> asked = parse_sided_attention(options.attention).at(live);
  const SideAttention& there = saved.record().attention;
  const AttentionFacts facts = attention_facts(build);
  if (asked) {
    require_able(build, facts, *asked, "--attention sdpa",
                 "--attention eager is what every build has");
  } else {
    require_able(build, facts, there.kind, fmt::format("the sdpa attention of {}", saved.name),
                 "name a newer build; or --attention eager, which moves bits by itself");
  }
  SideAttention side;
  side.kind = asked.value_or(there.kind);
  const bool scale_is_recorded = facts.transformers.empty() && there.kind == Attention::kEager;
  side.scale = scale_is_recorded
                   ? there.scale
                   : score_scale(facts, {{saved.record().torch, there.transformers.value_or("")}});
  side.choice = asked ? "--attention" : "as in " + saved.name;
  side.transformers = facts.transformers.empty() ? there.transformers : known(facts.transformers);
  return side;
}

}  // namespace drift
