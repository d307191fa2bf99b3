#include <set>

#include "driftaudit/rescore.hpp"

#include "audit/records.hpp"

namespace drift {
namespace {

RescoreRecord scored_by(const std::vector<DecodedRequest>& requests, std::uint32_t top_k,
                        const RescoreRequest& request, const Model& model, Progress& progress,
                        BuildRecord& scorer) {
  scorer = build_record(request.scorer);
  return rescore(requests,
                 runner_scorer(request.scorer, request.timeout_seconds, model, progress, scorer),
                 {request.outlier, top_k, model.config.n_positions});
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
  return scored_by(decoded_requests(decoded, build), decoded.settings.top_k, request, model,
                   progress, scorer);
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
  report.rescore = scored_by(read_logprobs(path, model.tokenizer, model.config), 0, request, model,
                             progress, report.builds[0]);
  report.rescore->source = path.string();
  report.tokens = named_tokens(*report.rescore, model.tokenizer);
  return report;
}

}  // namespace drift
