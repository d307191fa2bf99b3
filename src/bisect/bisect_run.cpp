#include "driftaudit/bisect_run.hpp"

#include <algorithm>

#include "driftaudit/build_prober.hpp"
#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"

#include "bisect/probe_store.hpp"

namespace drift {
namespace {

BuildAccess access_of(const BisectRequest& request) {
  return {request.open, [](const Candidate& build) { return is_installed(build.side); },
          [](const Candidate& build) { remove_unused_build(build.side); }};
}

const char* name_of(CandidateState state) {
  switch (state) {
    case CandidateState::kUntested:
      return "untested";
    case CandidateState::kAssumed:
      return "assumed";
    case CandidateState::kPart:
      return "part";
    case CandidateState::kFull:
      return "full";
    case CandidateState::kSkipped:
      return "skipped";
  }
  return "";
}

/// A bisection in the words of its report.
class Recorder {
 public:
  Recorder(const BisectRequest& request, const BuildProber& prober, const Bisection& result)
      : request_(request), prober_(prober), result_(result) {}

  BisectRecord record() const {
    BisectRecord record;
    record.measure = request_.measure.name();
    if (request_.measure.kind == Measure::Kind::kLogits) {
      record.max_logit_diff = request_.measure.most;
    }
    record.operation = request_.operation;
    record.all = request_.all;
    record.exhaustive = request_.exhaustive;
    record.ends_equal = result_.ends_equal;
    record.probes = result_.probes;
    record.part = prober_.part();
    for (std::size_t i = 0; i < result_.candidates.size(); ++i) {
      add_candidate(i, record);
    }
    for (const Boundary& found : result_.boundaries) {
      record.boundaries.push_back(
          {label(found.before), label(found.after), found.proved(), labels(found.between)});
    }
    for (const std::vector<std::size_t>& members : result_.classes) {
      record.classes.push_back(labels(members));
    }
    return record;
  }

 private:
  std::string label(std::size_t candidate) const { return request_.candidates[candidate].label; }

  std::vector<std::string> labels(const std::vector<std::size_t>& candidates) const {
    std::vector<std::string> labels;
    labels.reserve(candidates.size());
    for (const std::size_t candidate : candidates) {
      labels.push_back(label(candidate));
    }
    return labels;
  }

  std::optional<std::uint32_t> class_of(std::size_t candidate) const {
    for (std::size_t i = 0; i < result_.classes.size(); ++i) {
      const std::vector<std::size_t>& members = result_.classes[i];
      if (std::find(members.begin(), members.end(), candidate) != members.end()) {
        return static_cast<std::uint32_t>(i);
      }
    }
    return std::nullopt;
  }

  void add_candidate(std::size_t i, BisectRecord& record) const {
    const CandidateOutcome& outcome = result_.candidates[i];
    BisectCandidate candidate;
    candidate.label = label(i);
    candidate.released = request_.candidates[i].released;
    candidate.state = name_of(outcome.state);
    candidate.equals_first = outcome.equals_first;
    candidate.class_index = class_of(i);
    if (const Report* answer = prober_.answer(i)) {
      candidate.digest = answer_digest(*answer);
    }
    record.candidates.push_back(std::move(candidate));
    if (outcome.state == CandidateState::kSkipped) {
      record.skipped.push_back({label(i), prober_.why_skipped(i).what()});
    } else if (outcome.state == CandidateState::kAssumed) {
      record.assumed.push_back(label(i));
    }
  }

  const BisectRequest& request_;
  const BuildProber& prober_;
  const Bisection& result_;
};

Report report_of(const BisectRequest& request, const BuildProber& prober, const Bisection& result) {
  Report report;
  report.kind = "bisect";
  report.created = utc_now();
  report.host = this_host();
  report.prompts = request.prompts;
  report.settings = request.settings;
  for (std::size_t i = 0; i < request.candidates.size(); ++i) {
    if (const Report* answer = prober.answer(i)) {
      report.model = answer->model;
      report.builds.push_back(answer->builds.at(0));
    }
  }
  report.bisect = Recorder(request, prober, result).record();
  return report;
}

}  // namespace

Report run_bisect(const BisectRequest& request, const Question& question, Progress& progress) {
  BuildProber prober(request.candidates, question, access_of(request), request.circumstances,
                     {request.keep}, progress);
  try {
    const std::size_t count = request.candidates.size();
    const Bisection result =
        request.all ? bisect_all(prober, count, request.exhaustive) : bisect(prober, count);
    Report report = report_of(request, prober, result);
    prober.end(true);
    return report;
  } catch (const Error& error) {
    if (error.is_interruption()) {
      throw_resumable(error);
    }
    prober.end(false);
    throw;
  }
}

}  // namespace drift
