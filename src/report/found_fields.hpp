#pragma once

// The keys of what bisect, localize and reveal found: see report_fields.hpp.

#include "driftaudit/report.hpp"

#include "report/report_fields.hpp"

namespace drift {

void fields(auto& v, Is<BisectPart> auto& p) {
  v.one_of("mode", p.mode, kModeNames);
  v.from_one("prompt", p.prompt);
  v.from_one("steps", p.steps);
}

void fields(auto& v, Is<BisectCandidate> auto& c) {
  v("label", c.label);
  v("released", c.released);
  v.one_of("state", c.state, {"full", "part", "assumed", "untested", "skipped"});
  v("equals_first", c.equals_first);
  v("class", c.class_index);
  v.digest("digest", c.digest);
}

void fields(auto& v, Is<BisectBoundary> auto& b) {
  v("before", b.before);
  v("after", b.after);
  v("proved", b.proved);
  v("between", b.between);
}

void fields(auto& v, Is<BisectSkip> auto& s) {
  v("label", s.label);
  v("reason", s.reason);
}

void fields(auto& v, Is<BisectRecord> auto& b) {
  v.one_of("measure", b.measure, {"bits", "tokens", "max-logit-diff"});
  v("max_logit_diff", b.max_logit_diff);
  v("operation", b.operation);
  v("all", b.all);
  v("exhaustive", b.exhaustive);
  v("ends_equal", b.ends_equal);
  v("probes", b.probes);
  v("part", b.part);
  v("candidates", b.candidates);
  v("boundaries", b.boundaries);
  v("classes", b.classes);
  v("skipped", b.skipped);
  v("assumed", b.assumed);
}

void fields(auto& v, Is<OwnChange> auto& c) {
  v("max_abs_diff", c.max_abs_diff);
  v("max_ulp", c.max_ulp);
}

void fields(auto& v, Is<LocalizedOperation> auto& o) {
  v("name", o.name);
  v("shape", o.shape);
  v("same", o.same);
  v("inputs_same", o.inputs_same);
  v("own", o.own);
  v.if_set("own_change", o.own_change);
  v("max_abs_diff", o.max_abs_diff);
  v("mean_abs_diff", o.mean_abs_diff);
  v("max_ulp", o.max_ulp);
  v("mean_ulp", o.mean_ulp);
  v.if_not_zero("non_finite", o.non_finite);
}

void fields(auto& v, Is<GrowthPoint> auto& g) {
  v("stage", g.stage);
  v("operation", g.operation);
  v("max_abs_diff", g.max_abs_diff);
  v("mean_abs_diff", g.mean_abs_diff);
  v("max_ulp", g.max_ulp);
  v("mean_ulp", g.mean_ulp);
}

void fields(auto& v, Is<CacheReentry> auto& c) {
  v("operation", c.operation);
  v("max_abs_diff", c.max_abs_diff);
  v("max_ulp", c.max_ulp);
}

void fields(auto& v, Is<LengthRange> auto& r) {
  v("first", r.first);
  v("last", r.last);
}

void fields(auto& v, Is<IsolationCondition> auto& c) {
  v.one_of("condition", c.condition, {"rows", "alignment", "threads"});
  v("tried", c.tried);
  v("moves_a", c.moves_a);
  v("moves_b", c.moves_b);
}

void fields(auto& v, Is<IsolatedOperation> auto& i) {
  v("operation", i.operation);
  v("function", i.function);
  v("rows", i.rows);
  v("why_not", i.why_not);
  v("lengths_tried", i.lengths_tried);
  v("lengths_same", i.lengths_same);
  v("lengths_differ", i.lengths_differ);
  v("rows_tried", i.rows_tried);
  v("rows_differ", i.rows_differ);
  v("share_differ", i.share_differ);
  v("conditions", i.conditions);
}

void fields(auto& v, Is<SourceHint> auto& s) {
  v("function", s.function);
  v("note", s.note);
  v("files", s.files);
  v("symbols", s.symbols);
}

void fields(auto& v, Is<LocalizeRecord> auto& l) {
  v.from_one("prompt", l.prompt);
  v.from_one("step", l.step);
  v("cached", l.cached);
  v.if_set("memory_budget", l.memory_budget);
  v("first_difference", l.first_difference);
  v("own", l.own);
  v("operations", l.operations);
  v("growth", l.growth);
  v("cache_reentries", l.reentries);
  v("isolation", l.isolation);
  v("sources", l.sources);
  v("compare", l.compare);
}

void fields(auto& v, Is<RevealedOrder> auto& o) {
  v("build", o.build);
  v("operation", o.operation);
  v("length", o.length);
  v.one_of("status", o.status, {"proved", "consistent", "not a sum", "not explained"});
  v("tree", o.tree);
  v("fold", o.fold);
  v("why_not", o.why_not);
  v("note", o.note);
  v("probes", o.probes);
  v("exponential", o.proof.exponential);
  v("finish", o.proof.finish);
  v("rows", o.proof.rows);
  v("proved_rows", o.proof.proved_rows);
}

void fields(auto& v, Is<OrderComparison> auto& c) {
  v("a", c.a);
  v("b", c.b);
  v("length", c.length);
  v("same", c.same);
  v("proved", c.proved);
  v("words", c.words);
}

/// A reveal record without its trees and comparisons.
void fields(auto& v, Is<RevealRecord> auto& r) {
  v("operation", r.operation);
  v("lengths", r.lengths);
  v("shape", r.shape);
  v("rows_per_call", r.rows_per_call);
  v("sources", r.sources);
  v("compare", r.compare);
}

}  // namespace drift
