#include <set>

#include "driftaudit/rescore.hpp"

#include "audit/records.hpp"

namespace drift {
namespace {

/// The type of fewer digits.
std::string coarser(const std::string& a, const std::string& b) {
  for (const char* dtype : {"bfloat16", "float16"}) {
    if (a == dtype || b == dtype) {
      return dtype;
    }
  }
  return "float32";
}

RescoreRecord scored_by(const std::vector<DecodedRequest>& requests, RescoreOptions options,
                        const RescoreRequest& request, const Model& model, Progress& progress,
                        BuildRecord& scorer) {
  scorer = build_record(request.scorer);
  options.outlier = request.outlier;
  options.n_positions = model.config.n_positions;
  const std::vector<std::int32_t>& ends = model.config.end_of_text;
  options.end_of_text = ends.empty() ? -1 : ends.front();
  const LogitsReader logits =
      runner_logits(request.scorer, request.timeout_seconds, model, progress, scorer);
  const Scoring scoring{options.top_k, options.rule.value_or(LogprobRule{})};
  return rescore(requests, scorer_from(logits, scoring), options, logits);
}

Report new_report(const RescoreRequest& request, const Model& model) {
  Report report;
  report.kind = "rescore";
  report.tool = request.tool;
  report.created = utc_now();
  report.host = this_host();
  report.model = model_record(model);
  return report;
}

/// The bytes of every id that the record names.
std::map<std::int32_t, std::string> named_tokens(const RescoreRecord& record,
                                                 const Tokenizer& tokenizer) {
  std::set<std::int32_t> ids;
  for (const RescoredRequest& request : record.requests) {
    ids.insert(request.prompt_ids.begin(), request.prompt_ids.end());
  }
  for (const RescoredToken& token : record.scored) {
    ids.insert(token.token);
  }
  std::map<std::int32_t, std::string> tokens;
  for (const std::int32_t id : ids) {
    tokens.emplace(id, tokenizer.token_bytes(id));
  }
  return tokens;
}

}  // namespace

RescoreRecord rescore_runs(const Report& decoded, std::uint32_t build,
                           const RescoreRequest& request, const Model& model, Progress& progress,
                           BuildRecord& scorer) {
  const std::vector<DecodedRequest> requests = decoded_requests(decoded, build);
  RescoreOptions options;
  options.top_k = decoded.settings.top_k;
  options.dtype = coarser(decoded.settings.dtype, request.scorer.dtype);
  // Where one build decodes and scores, its own noise is what is rescored.
  if (decoded.builds[build].label != request.scorer.build.label) {
    options.own = own_noise(requests, request.scorer, request.timeout_seconds, model, progress);
  }
  return scored_by(requests, options, request, model, progress, scorer);
}

Report rescore_report(const Report& decoded, std::uint32_t build, const std::string& source,
                      const RescoreRequest& request, const Model& model, Progress& progress) {
  Report report = new_report(request, model);
  report.prompts = decoded.prompts;
  report.settings = decoded.settings;
  report.builds = {decoded.builds[build], {}};
  report.rescore = rescore_runs(decoded, build, request, model, progress, report.builds[1]);
  report.rescore->decoded_by = 0;
  report.rescore->scored_by = 1;
  report.rescore->source = source;
  report.tokens = named_tokens(*report.rescore, model.tokenizer);
  return report;
}

Report rescore_file(const std::filesystem::path& path, const RescoreRequest& request,
                    const Model& model, Progress& progress) {
  Report report = new_report(request, model);
  report.prompts = path.string();
  report.settings.modes = {"score"};
  report.builds.resize(1);
  report.settings.dtype = request.scorer.dtype;
  const std::vector<DecodedRequest> requests = read_logprobs(path, model.tokenizer, model.config);
  RescoreOptions options;
  options.dtype = request.scorer.dtype;
  options.dtype_known = false;
  options.rule = request.rule;
  options.own = own_noise(requests, request.scorer, request.timeout_seconds, model, progress);
  report.rescore = scored_by(requests, options, request, model, progress, report.builds[0]);
  report.rescore->source = path.string();
  report.tokens = named_tokens(*report.rescore, model.tokenizer);
  return report;
}

}  // namespace drift
