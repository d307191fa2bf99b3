#pragma once

// The keys of a rescore record: see report_fields.hpp.

#include "driftaudit/report.hpp"

#include "report/report_fields.hpp"

namespace drift {

inline constexpr auto kRescoreModes = {"greedy", "sample", "given"};

void fields(auto& v, Is<RescoredToken> auto& t) {
  v.one_of("mode", t.mode, kRescoreModes);
  v.from_one("prompt", t.prompt);
  v.from_one("step", t.step);
  v("token", t.token);
  v("logprob_decode", t.logprob_decode);
  v("logprob_prefill", t.logprob_prefill);
  v.from_one("rank", t.rank);
  v("margin", t.margin);
}

void fields(auto& v, Is<RescoreSpread> auto& s) {
  v.one_of("part", s.part, {"all", "early", "middle", "late"});
  v("tokens", s.tokens);
  v("outliers", s.outliers);
  v("median", s.median);
  v("p99", s.p99);
  v("max", s.max);
}

void fields(auto& v, Is<RescoreSwap> auto& s) {
  v.from_one("prompt", s.prompt);
  v.from_one("step", s.step);
}

void fields(auto& v, Is<RescoreAlone> auto& a) {
  v("first_difference", a.first_difference);
  v("steps", a.steps);
  v("max", a.max);
  v("answers", a.answers);
}

void fields(auto& v, Is<RescoredRequest> auto& r) {
  v.one_of("mode", r.mode, kRescoreModes);
  v.from_one("prompt", r.prompt);
  v.if_set("request_id", r.request_id);
  v("prompt_text", r.prompt_text);
  v("prompt_ids", r.prompt_ids);
  v("tokens", r.tokens);
  v("outliers", r.outliers);
  v("first_outlier", r.first_outlier);
  v("outlier_period", r.outlier_period);
  v("median", r.median);
  v("max", r.max);
  v.if_set("answers", r.answers);
  v.if_set("alone", r.alone);
}

void fields(auto& v, Is<RescorePeriod> auto& p) {
  v.from_one("period", p.period);
  v.from_one("first", p.first);
}

void fields(auto& v, Is<RescoreNoise> auto& n) {
  v("quietest", n.quietest);
  v.if_set("own", n.own);
  v.one_of("dtype", n.dtype, kDtypeNames);
  v("step", n.step);
  v("least", n.least);
  v("most", n.most);
}

void fields(auto& v, Is<RescoreRule> auto& r) {
  v("temperature", r.rule.temperature);
  v("top_k", r.rule.top_k);
  v("top_p", r.rule.top_p);
  v("base", r.rule.base);
  v("shift", r.rule.shift);
  v("before", r.rule.before);
  v("given", r.given);
  v("fitted", r.fitted);
  v("tokens", r.tokens);
  v("median", r.median);
  v("max", r.max);
}

/// A record without its lists: the writer gives those an item a line.
void fields(auto& v, Is<RescoreRecord> auto& r) {
  v("decoded_by", r.decoded_by);
  v("scored_by", r.scored_by);
  v("source", r.source);
  v("limit_given", r.limit_given);
  v("limit", r.limit);
  v("non_finite", r.non_finite);
  v("not_chosen", r.not_chosen);
  v.if_set("noise", r.noise);
  v.if_set("rule", r.rule);
  v("request_period", r.request_period);
  v("spread", r.spread);
}

}  // namespace drift
