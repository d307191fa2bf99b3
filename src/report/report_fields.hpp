#pragma once

// The keys of a report's objects, each listed once: the writer and the reader both visit them, so
// that what one writes the other reads. A visitor has
//   v(key, value)              a key that is always there; optional values may be null
//   v.if_set(key, optional)    a key that is left out without a value
//   v.if_any(key, list)        a key that is left out for an empty list
//   v.if_not_zero(key, count)  a key that is left out for 0
//   v.unless(usual, key, value) a key that is left out for the usual value
//   v.from_one(key, count)     a count that begins at 1
//   v.digest(key, text)        32 hexadecimal digits; an optional one may be null
//   v.hex_if_set(key, number)  16 hexadecimal digits, or left out
//   v.one_of(key, text, names) a text out of a list
//   v.one_of_if_there(key, text, names) the same, or left out for an empty text
//   v.side(key, char)          "A" or "B"
//   v.checksum(key, step)      of what the step keeps: see step_checksum()

#include <concepts>
#include <type_traits>

#include "driftaudit/report.hpp"

namespace drift {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

inline constexpr auto kDtypeNames = {"float32", "bfloat16", "float16"};
inline constexpr auto kModeNames = {"greedy", "sample", "score", "operation"};

void fields(auto& v, Is<Step> auto& s) {
  v("token", s.token);
  v("logit", s.logit);
  v("top", s.top);
  v("gap", s.gap);
  v("logsumexp", s.logsumexp);
  v.digest("digest", s.digest);
  v.hex_if_set("draw_digest", s.draw_digest);
  v.if_set("fed", s.fed);
  v.if_set("given", s.given);
  if (s.given) {
    v("logprob", s.given_logprob);
  }
  v.if_not_zero("non_finite", s.non_finite);
  v.checksum("checksum", s);
}

/// A run without its steps.
void fields(auto& v, Is<Run> auto& r) {
  v("build", r.build);
  v.one_of("mode", r.mode, kModeNames);
  v("cache", r.cache);
  v.from_one("prompt", r.prompt);
  v("prompt_text", r.prompt_text);
  v("prompt_ids", r.prompt_ids);
  v("text", r.text);
  v("stopped", r.stopped);
}

void fields(auto& v, Is<HostRecord> auto& h) {
  v("cpu", h.cpu);
  v("os", h.os);
  v("kernel", h.kernel);
  v("cores", h.cores);
  v("cpu_flags", h.cpu_flags);
}

void fields(auto& v, Is<ModelRecord> auto& m) {
  v("name", m.name);
  v("why", m.why);
  v("source", m.source);
  v("digest", m.digest);
  v("source_dtype", m.source_dtype);
  v("n_layer", m.n_layer);
  v("n_embd", m.n_embd);
  v("n_head", m.n_head);
  v("n_positions", m.n_positions);
  v("vocab_size", m.vocab_size);
  v("parameters", m.parameters);
  v.one_of_if_there("output_head", m.output_head, {"tied", "stored"});
  v.unless(false, "output_head_asked", m.output_head_asked);
  v.if_not_zero("head_differing", m.head_differing);
  v.unless(std::vector<std::string>(), "warnings", m.warnings);
}

void fields(auto& v, Is<SettingsRecord> auto& s) {
  v("modes", s.modes);
  v("new_tokens", s.new_tokens);
  v("top_k", s.top_k);
  v("seed", s.seed);
  v("temperature", s.temperature);
  v("ignore_eos", s.ignore_eos);
  v("cache", s.cache);
  v.one_of("sampler", s.sampler, {"torch", "fixed"});
  v.one_of("on_divergence", s.on_divergence, {"stop", "force"});
  v("text", s.text);
  v.from_one("keep_top", s.keep_top);
  v.one_of("dtype", s.dtype, kDtypeNames);
  v.if_above_one("batch", s.batch);
}

void fields(auto& v, Is<RecordedBuild> auto& r) {
  v("report", r.report);
  v("tool", r.tool);
  v("created", r.created);
  v("host", r.host);
}

void fields(auto& v, Is<GateRecord> auto& g) {
  v("gate", g.gate);
  v("tripped", g.tripped);
  v("finding", g.finding);
}

void fields(auto& v, Is<LogitsRecord> auto& l) {
  v("file", l.file);
  v("bytes", l.bytes);
  v("sha256", l.sha256);
}

void fields(auto& v, Is<DoubtfulSetting> auto& s) {
  v("name", s.name);
  v("value", s.value);
  v.one_of("state", s.state, {"not_honoured", "unknown"});
  v("answer", s.answer);
}

void fields(auto& v, Is<BuildRecord> auto& b) {
  v("label", b.label);
  v("torch", b.torch);
  v("torch_git", b.torch_git);
  v("libtorch_sha256", b.libtorch_sha256);
  v("cpu_capability", b.cpu_capability);
  v("blas", b.blas);
  v("threads", b.threads);
  v("blas_threads", b.blas_threads);
  v.if_set("blas_dispatch", b.blas_dispatch);
  v("string_abi", b.string_abi);
  v("knobs", b.knobs);
  v.if_any("doubtful_settings", b.doubtful_settings);
  v.unless(1U, "interop_threads", b.conditions.interop_threads);
  v.if_not_zero("memory_limit_bytes", b.conditions.memory_limit);
  v.unless(64U, "alignment", b.conditions.alignment);
  v.unless(false, "flush_denormals", b.conditions.flush_denormals);
  v.unless(Attention::kEager, "attention", b.attention.kind);
  v.unless(ScoreScale::kDivide, "score_scale", b.attention.scale);
  v.if_set("attention_choice", b.attention.choice);
  v.if_set("transformers", b.attention.transformers);
  v("repeatable", b.repeatable);
  v("tokens_per_second", b.tokens_per_second);
  v("peak_memory_bytes", b.peak_memory_bytes);
  v.if_not_zero("peak_address_bytes", b.peak_address_bytes);
  v("log", b.log);
  v.if_set("recorded", b.recorded);
}

void fields(auto& v, Is<SmallestGap> auto& g) {
  v("value", g.value);
  v.from_one("prompt", g.prompt);
  v.from_one("step", g.step);
  v.side("side", g.side);
}

void fields(auto& v, Is<PromptComparison> auto& p) {
  v.one_of("mode", p.mode, kModeNames);
  v.from_one("prompt", p.prompt);
  v("steps", p.steps);
  v("steps_changed", p.steps_changed);
  v("first_changed_step", p.first_changed_step);
  v("first_token_change", p.first_token_change);
  v("token_change_cause", p.token_change_cause);
  v("max_abs_logit_diff", p.max_abs_logit_diff);
  v("max_ulp", p.max_ulp);
  v("max_gap_change", p.max_gap_change);
  v("max_kl", p.max_kl);
  v("smallest_gap", p.smallest_gap);
  v("min_step_margin", p.min_step_margin);
  v("steps_flip_possible", p.steps_flip_possible);
  v("steps_not_compared", p.steps_not_compared);
  v("non_finite", p.non_finite);
  v.if_not_zero("steps_on_kept", p.steps_on_kept);
  v.if_not_zero("gap_changes_unknown", p.gap_changes_unknown);
  v.if_not_zero("ties", p.ties);
}

void fields(auto& v, Is<Summary> auto& s) {
  v.one_of("verdict", s.verdict, {"identical", "same_tokens", "diverged"});
  v("steps", s.steps);
  v("steps_changed", s.steps_changed);
  v("first_steps_changed", s.first_steps_changed);
  v("prompts", s.prompts);
  v("prompts_changed", s.prompts_changed);
  v("max_abs_logit_diff", s.max_abs_logit_diff);
  v("smallest_gap", s.smallest_gap);
  v("max_gap_change", s.max_gap_change);
  v("margin", s.margin);
  v("min_step_margin", s.min_step_margin);
  v("steps_flip_possible", s.steps_flip_possible);
  v("non_finite", s.non_finite);
  v.if_not_zero("steps_on_kept", s.steps_on_kept);
  v.if_not_zero("gap_changes_unknown", s.gap_changes_unknown);
  v.if_not_zero("ties", s.ties);
  v.if_set("perplexity_a", s.perplexity_a);
  v.if_set("perplexity_b", s.perplexity_b);
  v.if_set("kl_percentiles", s.kl_percentiles);
  v.if_set("top1_agreement", s.top1_agreement);
}

/// Names of enumerated values, by their number.
inline constexpr std::array<const char*, 4> kStopNames{"length", "eos", "context", "fed"};
inline constexpr std::array<const char*, 3> kCauseNames{"logits", "sampler", "both"};

constexpr const auto& names_of(Stop) { return kStopNames; }
constexpr const auto& names_of(TokenChangeCause) { return kCauseNames; }

}  // namespace drift
