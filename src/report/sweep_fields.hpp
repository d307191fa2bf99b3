#pragma once

// The keys of a sweep's record: see report_fields.hpp.

#include "driftaudit/report.hpp"

#include "report/report_fields.hpp"

namespace drift {

void fields(auto& v, Is<SweepCell> auto& c) {
  v("build", c.build);
  v("knobs", c.knobs);
  v.one_of("state", c.state, {"ran", "nondeterministic", "failed"});
  v.digest("digest", c.digest);
  v("repeatable", c.repeatable);
  v("class", c.class_index);
  v("ran_as", c.ran_as);
  v("reason", c.reason);
  v("reports", c.reports);
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
  v("known", k.known);
}

void fields(auto& v, Is<SweepRecord> auto& s) {
  v("one_at_a_time", s.one_at_a_time);
  v("cells", s.cells);
  v("classes", s.classes);
  v("knobs", s.knobs);
}

}  // namespace drift
