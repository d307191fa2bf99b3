#include "report/rescore_view.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/rescore_rule.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

constexpr const char* kRed = "31";
constexpr std::size_t kMostRequests = 20;
constexpr std::size_t kMostOutliers = 6;
constexpr std::size_t kMostNamed = 8;
constexpr std::uint32_t kTokensAround = 40;
constexpr std::size_t kPromptWidth = 36;

std::string request_name(const RescoredRequest& request) {
  return request.request_id ? fmt::format("request {}", visible(*request.request_id))
                            : fmt::format("{} prompt {}", request.mode, request.prompt);
}

/// What another request of the same mode is called.
std::string other_name(const RescoreRecord& record, const std::string& mode, std::uint32_t prompt) {
  const auto at = std::find_if(record.requests.begin(), record.requests.end(),
                               [&](const auto& r) { return r.mode == mode && r.prompt == prompt; });
  return at != record.requests.end() && at->request_id
             ? fmt::format("request {}", visible(*at->request_id))
             : fmt::format("prompt {}", prompt);
}

std::size_t failing_requests(const RescoreRecord& record) {
  return static_cast<std::size_t>(
      std::count_if(record.requests.begin(), record.requests.end(),
                    [](const RescoredRequest& request) { return request.outliers > 0; }));
}

/// "every step from 12 on", "31 of 49 steps from 12 on", "every 4th step from 3 on".
std::string failing_steps(const RescoredRequest& request) {
  const std::uint32_t first = *request.first_outlier;
  const std::uint64_t left = request.tokens - first + 1;
  if (request.outlier_period) {
    return fmt::format("every {} steps from {} on", *request.outlier_period, first);
  }
  if (request.outliers == left) {
    return left == 1 ? fmt::format("step {}, the last", first)
                     : fmt::format("every step from {} on", first);
  }
  return request.outliers == 1
             ? fmt::format("step {} alone", first)
             : fmt::format("{} of {} steps from {} on", request.outliers, left, first);
}

std::string pattern(const RescoreRecord& record, const RescoredRequest& request) {
  if (!request.first_outlier) {
    return "";
  }
  std::string text = failing_steps(request);
  if (request.answers) {
    text += "; answers " + other_name(record, request.mode, request.answers->prompt);
  }
  return text;
}

/// Failing requests first where there is no room for all; in their own order.
std::vector<const RescoredRequest*> shown_requests(const RescoreRecord& record) {
  std::vector<const RescoredRequest*> shown;
  for (const bool failing : {true, false}) {
    for (const RescoredRequest& request : record.requests) {
      if ((request.outliers > 0) == failing && shown.size() < kMostRequests) {
        shown.push_back(&request);
      }
    }
  }
  std::sort(shown.begin(), shown.end());  // all lie in one vector
  return shown;
}

std::string requests_table(const RescoreRecord& record, bool colour) {
  Columns columns({true, false, false, false, false, true});
  columns.add({{"request"}, {"tokens"}, {"outliers"}, {"median |Δ|"}, {"max |Δ|"}, {"outlying"}});
  const std::vector<const RescoredRequest*> shown = shown_requests(record);
  for (const RescoredRequest* r : shown) {
    const std::string mark = r->outliers > 0 ? kRed : "";
    const std::string name = r->request_id ? visible(*r->request_id) : r->mode;
    columns.add({{fmt::format("  {} {}  {}", name, r->prompt,
                              shortened(visible(r->prompt_text), kPromptWidth))},
                 {fmt::format("{}", r->tokens)},
                 {fmt::format("{}", r->outliers), mark},
                 {short_number(r->median)},
                 {short_number(r->max)},
                 {pattern(record, *r), mark}});
  }
  const std::size_t left = record.requests.size() - shown.size();
  return columns.text(colour) +
         (left > 0 ? fmt::format("  … and {}: see the report\n", counted(left, "request")) : "");
}

std::string positions_table(const RescoreRecord& record, bool colour) {
  Columns columns({true, false, false, false, false, false});
  columns.add({{"position"}, {"tokens"}, {"outliers"}, {"median |Δ|"}, {"99%"}, {"max"}});
  const std::map<std::string, std::string> names{{"all", "all steps"},
                                                 {"early", "early (first 10)"},
                                                 {"middle", "between"},
                                                 {"late", "late (last 10)"}};
  for (const RescoreSpread& spread : record.spread) {
    columns.add({{"  " + names.at(spread.part)},
                 {fmt::format("{}", spread.tokens)},
                 {fmt::format("{}", spread.outliers), spread.outliers > 0 ? kRed : ""},
                 {short_number(spread.median)},
                 {short_number(spread.p99)},
                 {short_number(spread.max)}});
  }
  return columns.text(colour);
}

std::string rank_in_words(const RescoredToken& token) {
  return token.rank == 1 ? "the prefill's highest"
                         : fmt::format("rank {} in the prefill, {} below its highest", token.rank,
                                       short_number(token.margin));
}

/// One line with the token marked and the text around it; `tokens` are the request's.
std::string around(const View& view, const RescoredRequest& request, const RescoredToken* tokens,
                   bool colour, std::size_t width) {
  const std::uint32_t step = *request.first_outlier;
  const auto count = static_cast<std::uint32_t>(request.tokens);
  std::string before = step <= kTokensAround ? request.prompt_text : "";
  for (std::uint32_t i = step > kTokensAround ? step - kTokensAround : 1; i < step; ++i) {
    before += view.token(tokens[i - 1].token);
  }
  std::string after;
  for (std::uint32_t i = step + 1; i <= std::min(count, step + kTokensAround); ++i) {
    after += view.token(tokens[i - 1].token);
  }
  std::string token = visible(view.token(tokens[step - 1].token));
  token = colour ? token : "[" + token + "]";
  const std::size_t room = std::max<std::size_t>(width, 40) - 4;
  const std::string shown_before = shortened_front(visible(before), room / 2);
  const std::size_t taken = display_width(shown_before) + display_width(token);
  return shown_before + coloured(token, kRed, colour) +
         shortened(visible(after), room > taken ? room - taken : 0);
}

/// The first outlier of each failing request, as far as there is room.
std::string outlier_lines(const View& view, bool colour, std::size_t width) {
  const RescoreRecord& record = *view.report().rescore;
  std::string text;
  std::size_t shown = 0;
  const RescoredToken* tokens = record.scored.data();
  for (const RescoredRequest& request : record.requests) {
    if (request.first_outlier && ++shown <= kMostOutliers) {
      const RescoredToken& token = tokens[*request.first_outlier - 1];
      text +=
          wrapped(fmt::format("{}, step {}: |Δ| {}, decoding {:.6g}, prefill {:.6g}; {}",
                              request_name(request), token.step, short_number(delta_of(token)),
                              token.logprob_decode, token.logprob_prefill, rank_in_words(token)),
                  "  ", "  ", width) +
          "    " + around(view, request, tokens, colour, width) + "\n";
    }
    tokens += request.tokens;
  }
  return text.empty() ? "" : "\nfirst outliers\n" + text;
}

/// Where the limit comes from.
std::string limit_in_words(const RescoreRecord& record) {
  const std::string limit = short_number(record.limit);
  if (record.limit_given) {
    return limit + " (--outlier)";
  }
  if (!record.noise) {
    return fmt::format(
        "{} ({})", limit,
        record.limit > kLeastRescoreLimit ? "50 × the median" : "the least there is");
  }
  const RescoreNoise& noise = *record.noise;
  const std::string steps =
      fmt::format("{:.3g} steps of {}", record.limit / noise.step, noise.dtype);
  if (record.limit <= noise.least) {
    return fmt::format("{} ({})", limit,
                       noise.least > kLeastRescoreLimit ? steps : "the least there is");
  }
  return fmt::format("{} ({})", limit,
                     record.limit >= noise.most ? steps + ", the most there is"
                     : noise.own.value_or(0) > noise.quietest
                         ? "24 × the scorer's own noise"
                         : "24 × the quietest request's noise");
}

std::string rescore_headline(const RescoreRecord& record) {
  if (record.rule && !record.rule->given) {
    return "the log-probabilities aren't those of raw logits: " + rule_in_words(record.rule->rule);
  }
  if (!record.outliers.empty()) {
    return fmt::format("{} in {} of {}", counted(record.outliers.size(), "outlier"),
                       failing_requests(record), counted(record.requests.size(), "request"));
  }
  if (one_sided(record)) {
    return "no outliers, but nearly all log-probabilities are off to the same side";
  }
  if (hidden_by_limit(record)) {
    return fmt::format("no outliers, but only since the median |Δ| itself is {}",
                       short_number(record.spread.front().median));
  }
  if (coarse_throughout(record)) {
    return "no outliers, as far as half precision tells";
  }
  return "no outliers: the prefill says what decoding said";
}

std::string distribution(const RescoreRecord& record) {
  const RescoreSpread& all = record.spread.front();
  return fmt::format("|Δ| of {}: median {}, 99% {}, largest {}; an outlier is above {}",
                     counted(all.tokens, "token"), short_number(all.median), short_number(all.p99),
                     short_number(all.max), limit_in_words(record));
}

/// Where in the answers the outliers lie, if they lie in some parts only.
std::string by_position(const RescoreRecord& record) {
  std::string without;
  for (const RescoreSpread& spread : record.spread) {
    if (spread.part != "all" && spread.outliers == 0) {
      without += (without.empty() ? "" : " or ") +
                 std::string(spread.part == "early"    ? "the first ten steps"
                             : spread.part == "middle" ? "the steps between"
                                                       : "the last ten steps");
    }
  }
  return without.empty() ? "" : "no outlier is among " + without;
}

std::string requests_in_words(const RescoreRecord& record) {
  if (const auto& period = record.request_period) {
    return fmt::format("one request in {0} fails: {1}, {2}, {3}, …", period->period, period->first,
                       period->first + period->period, period->first + 2 * period->period);
  }
  const std::size_t failing = failing_requests(record);
  if (failing == record.requests.size()) {
    return failing > 1 ? "every request fails" : "";
  }
  return failing < 3 ? "" : "the requests that fail follow no period";
}

std::string wrong_tokens(const RescoreRecord& record) {
  if (record.requests.front().mode == "given") {
    return "";
  }
  if (record.not_chosen == 0) {
    return "each outlying token is still one that the prefill's logits choose, within noise and a "
           "step: the text isn't shown to be wrong";
  }
  return fmt::format(
      "{} of them can't come from the prefill's logits (below the highest, or below the top-k, by "
      "more than noise and a step): the text itself is wrong there",
      record.not_chosen);
}

void describe_requests(const RescoreRecord& record, std::vector<std::string>& details) {
  std::size_t named = 0;
  for (const RescoredRequest& request : record.requests) {
    if (request.answers) {
      details.push_back(fmt::format("{} answers {}{}", request_name(request),
                                    other_name(record, request.mode, request.answers->prompt),
                                    request.answers->step == 1
                                        ? ""
                                        : fmt::format(" from step {} on", request.answers->step)));
    } else if (request.first_outlier && ++named <= kMostNamed) {
      details.push_back(fmt::format("{}: {}", request_name(request), failing_steps(request)));
    }
  }
  if (named > kMostNamed) {
    details.push_back(fmt::format("{} more fail: see the report", named - kMostNamed));
  }
}

/// How the requests of a batch differ from themselves alone.
void describe_batch(const RescoreRecord& record, std::vector<std::string>& details) {
  std::size_t batched = 0;
  std::size_t differing = 0;
  double largest = 0;
  std::vector<std::string> first;
  for (const RescoredRequest& request : record.requests) {
    if (!request.alone) {
      continue;
    }
    ++batched;
    largest = std::max(largest, request.alone->max);
    if (request.alone->first_difference && ++differing <= kMostNamed) {
      first.push_back(request.alone->answers
                          ? fmt::format("{} has the answer that {} has alone",
                                        request_name(request),
                                        other_name(record, request.mode, *request.alone->answers))
                          : fmt::format("{} parts from itself alone at step {}",
                                        request_name(request), *request.alone->first_difference));
    }
  }
  if (batched == 0) {
    return;
  }
  details.push_back(fmt::format(
      "{} of {} have the same tokens alone; where tokens are the same, log-probabilities differ by "
      "at most {}",
      batched - differing, counted(batched, "batched request"), short_number(largest)));
  details.insert(details.end(), first.begin(), first.end());
  if (differing > kMostNamed) {
    details.push_back(fmt::format("{} more part: see the report", differing - kMostNamed));
  }
}

std::vector<std::string> rescore_details(const RescoreRecord& record) {
  std::vector<std::string> details{distribution(record)};
  if (record.rule) {
    details.push_back(rule_detail(*record.rule));
  }
  if (const std::string noise = noise_in_words(record); !noise.empty()) {
    details.push_back(noise);
  }
  describe_batch(record, details);
  if (record.rule && !record.rule->given) {
    return details;  // the rule says why they fail
  }
  if (record.outliers.empty()) {
    return details;
  }
  describe_requests(record, details);
  for (const std::string& text :
       {requests_in_words(record), by_position(record), wrong_tokens(record)}) {
    if (!text.empty()) {
      details.push_back(text);
    }
  }
  if (record.non_finite > 0) {
    details.push_back(fmt::format("{} of a NaN or infinite log-probability: outliers",
                                  counted(record.non_finite, "token")));
  }
  return details;
}

}  // namespace

std::string rescore_table(const View& view, bool colour, std::size_t width) {
  const Report& report = view.report();
  const RescoreRecord& record = *report.rescore;
  std::string heading = report_heading(view);
  if (!record.decoded_by) {
    heading += fmt::format(
        "   scores {}{}\n", visible(record.source),
        record.rule && record.rule->given ? ", taken as " + rule_in_words(record.rule->rule) : "");
  } else {
    heading += fmt::format("   A decoded{}, B scored: prompt and text in one prefill\n",
                           record.source.empty() ? "" : " (" + visible(record.source) + ")");
  }
  return fmt::format("{}\n{}\n{}{}", heading, requests_table(record, colour),
                     positions_table(record, colour), outlier_lines(view, colour, width));
}

Verdict rescore_verdict(const Report& report) {
  const RescoreRecord& record = *report.rescore;
  return {side_warnings(report), rescore_headline(record), rescore_details(record),
          tripped_gates(report), suggestions(report)};
}

}  // namespace drift
