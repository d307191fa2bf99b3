#pragma once

// The keys of a study's record: see report_fields.hpp.

#include "driftaudit/report.hpp"

#include "report/report_fields.hpp"

namespace drift {

inline constexpr auto kStudyPairNames = {"upgrade", "kernels", "generic upgrade", "threads"};
inline constexpr auto kStudyRunNames = {"first",          "last",           "last again",
                                        "last, 1 thread", "first, generic", "last, generic"};

void fields(auto& v, Is<StudyRate> auto& r) {
  v("per_million", r.per_million);
  v("low", r.low);
  v("high", r.high);
}

inline constexpr auto kIntervalNames = {"given", "density", "symmetry", "few steps", "few prompts"};

void fields(auto& v, Is<FlipBasis> auto& b) {
  v("reach", b.reach);
  v("steps", b.steps);
  v("half", b.half);
  v("quarter", b.quarter);
  v("closing", b.closing);
  v.one_of("interval", b.interval, kIntervalNames);
}

void fields(auto& v, Is<FlipRate> auto& r) {
  v("steps", r.steps);
  v("changed", r.changed);
  v("flips_seen", r.flips_seen);
  v("mean_abs_change", r.mean_abs_change);
  v("near", r.near);
  v("bandwidth", r.bandwidth);
  v("density", r.density);
  v("flips", r.flips);
  v.if_set("basis", r.basis);
}

void fields(auto& v, Is<StudyPair> auto& p) {
  v.one_of("what", p.what, kStudyPairNames);
  v("a", p.a);
  v("b", p.b);
  v.one_of("mode", p.mode, kModeNames);
  v("cache", p.cache);
  v("prompts", p.prompts);
  v("prompts_diverged", p.prompts_diverged);
  v("steps", p.steps);
  v("steps_changed", p.steps_changed);
  v("first_steps_changed", p.first_steps_changed);
  v("max_first_step_diff", p.max_first_step_diff);
  v("max_abs_logit_diff", p.max_abs_logit_diff);
}

void fields(auto& v, Is<StudyBuild> auto& b) {
  v("label", b.label);
  v("ran_as", b.ran_as);
  v("reason", b.reason);
  v("repeatable", b.repeatable);
  v("same_bits", b.same_bits);
  v("steps", b.steps);
  v("steps_changed", b.steps_changed);
  v("runs_diverged", b.runs_diverged);
}

void fields(auto& v, Is<StudyRun> auto& r) {
  v.one_of("name", r.name, kStudyRunNames);
  v("ran_as", r.ran_as);
  v("set", r.set);
  v("steps", r.steps);
  v("tokens_per_second", r.tokens_per_second);
}

void fields(auto& v, Is<StudyGap> auto& g) {
  v("value", g.value);
  v.from_one("prompt", g.prompt);
  v.from_one("step", g.step);
  v("run", g.run);
}

void fields(auto& v, Is<StudyGapChange> auto& c) {
  v("value", c.value);
  v.from_one("prompt", c.prompt);
  v.from_one("step", c.step);
  v("a", c.a);
  v("b", c.b);
}

void fields(auto& v, Is<StudyBand> auto& b) {
  v.from_one("first", b.first);
  v.from_one("last", b.last);
  v("counts", b.counts);
}

void fields(auto& v, Is<StudyHistogram> auto& h) {
  v("edges", h.edges);
  v("bands", h.bands);
}

void fields(auto& v, Is<StudyGaps> auto& g) {
  v("openings", g.openings);
  v("prompts", g.prompts);
  v("tokens", g.tokens);
  v("runs", g.runs);
  v("distinct_sets", g.distinct_sets);
  v("continuations_equal", g.continuations_equal);
  v("smallest", g.smallest);
  v("smallest_text", g.smallest_text);
  v("largest_change", g.largest_change);
  v("margin", g.margin);
  v("changes_unknown", g.changes_unknown);
  v("end_steps", g.end_steps);
  v("median_first", g.median_first);
  v("median_last", g.median_last);
  v("loop_share", g.loop_share);
  v("histogram", g.histogram);
}

void fields(auto& v, Is<StudyFlips> auto& f) {
  v("a", f.a);
  v("b", f.b);
  v("rate", f.rate);
}

void fields(auto& v, Is<StudySampled> auto& s) {
  v("prompts", s.prompts);
  v("steps", s.steps);
  v("loop_share", s.loop_share);
  v("changes_unknown", s.changes_unknown);
  v("argmax", s.argmax);
  v("mean_total_variation", s.mean_total_variation);
  v("draws", s.draws);
  v("same_draws", s.same_draws);
  v("draws_changed", s.draws_changed);
}

void fields(auto& v, Is<StudyRecord> auto& s) {
  v("quick", s.quick);
  v("gaps", s.gaps);
  v("pairs", s.pairs);
  v("range", s.range);
  v("flips", s.flips);
  v.if_set("sampled", s.sampled);
}

}  // namespace drift
