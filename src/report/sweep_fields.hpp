#pragma once

// The keys of a sweep's record: see report_fields.hpp.

#include "driftaudit/report.hpp"

#include "report/report_fields.hpp"
#include "report/rescore_fields.hpp"

namespace drift {

void fields(auto& v, Is<SweepFailure> auto& f) {
  v.one_of("mode", f.mode, kModeNames);
  v.from_one("prompt", f.prompt);
  v.from_one("first_step", f.first_step);
  v("outliers", f.outliers);
  v.if_set("step_period", f.step_period);
  v.if_set("answers", f.answers);
}

void fields(auto& v, Is<SweepRescore> auto& r) {
  v("tokens", r.tokens);
  v("outliers", r.outliers);
  v("limit", r.limit);
  v("median", r.median);
  v("max", r.max);
  v("failing", r.failing);
  v("request_period", r.request_period);
}

void fields(auto& v, Is<SweepCell> auto& c) {
  v("build", c.build);
  v("knobs", c.knobs);
  v.one_of("state", c.state, {"ran", "nondeterministic", "not_honoured", "failed"});
  v.digest("digest", c.digest);
  v("repeatable", c.repeatable);
  v("class", c.class_index);
  v("ran_as", c.ran_as);
  v("reason", c.reason);
  v("reports", c.reports);
  v.if_set("rescored", c.rescore);
}

void fields(auto& v, Is<SweepClass> auto& c) {
  v.digest("digest", c.digest);
  v("cells", c.cells);
}

void fields(auto& v, Is<SweepPair> auto& p) {
  v("a", p.a);
  v("b", p.b);
}

void fields(auto& v, Is<SweepTokenChange> auto& c) {
  v("cells", c.cells);
  v.one_of("mode", c.mode, kModeNames);
  v.from_one("prompt", c.prompt);
  v.from_one("step", c.step);
  v("before", c.before);
  v("after", c.after);
}

void fields(auto& v, Is<SweepKnobFailures> auto& f) {
  v("pairs", f.pairs);
  v("pairs_moved", f.pairs_moved);
  v("first", f.first);
}

void fields(auto& v, Is<SweepIdle> auto& i) {
  v("pairs", i.pairs);
  v("why", i.why);
}

void fields(auto& v, Is<SweepKnob> auto& k) {
  v("name", k.name);
  v("values", k.values);
  v("moves_bits", k.moves_bits);
  v("moves_tokens", k.moves_tokens);
  v("pairs", k.pairs);
  v("pairs_bits", k.pairs_bits);
  v("pairs_tokens", k.pairs_tokens);
  v("differing", k.differing);
  v.if_set("pairs_kernels", k.pairs_kernels);
  v.if_set("other_kernels", k.other_kernels);
  v("first_token_change", k.first_token_change);
  v.if_set("failures", k.failures);
  v.if_set("idle", k.idle);
  v("known", k.known);
  v.if_any("notes", k.notes);
}

void fields(auto& v, Is<SweepRecord> auto& s) {
  v("one_at_a_time", s.one_at_a_time);
  v("cells", s.cells);
  v("classes", s.classes);
  v("knobs", s.knobs);
}

}  // namespace drift
