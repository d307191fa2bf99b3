#include "audit/records.hpp"

#include <set>

namespace drift {

BuildRecord build_record(const Side& side) {
  BuildRecord record;
  record.label = side.build.label;
  record.torch = side.build.version;
  record.torch_git = side.build.git_commit;
  record.libtorch_sha256 = side.build.libtorch_sha256;
  record.string_abi = side.build.string_abi == StringAbi::kOld ? "old" : "new";
  record.knobs = side.environment.knobs;
  record.conditions = side.conditions;
  record.attention = side.attention;
  if (record.attention.kind != Attention::kEager) {  // then the scale is the operation's own affair
    record.attention.scale = ScoreScale::kDivide;
  }
  return record;
}

void record_facts(const RunnerFacts& facts, BuildRecord& record) {
  record.cpu_capability = facts.cpu_capability;
  record.blas = facts.blas;
  record.threads = facts.aten_threads;
  record.blas_threads = facts.blas_threads;
  record.blas_dispatch = facts.blas_dispatch;
  record.doubtful_settings = doubtful_settings(record.knobs, facts);
}

ModelRecord model_record(const Model& model) {
  ModelRecord record;
  record.name = model.name;
  record.why = model.why;
  record.source = model.source.string();
  record.digest = model.digest;
  record.source_dtype = model.source_dtype;
  record.n_layer = model.config.n_layer;
  record.n_embd = model.config.n_embd;
  record.n_head = model.config.n_head;
  record.n_positions = model.config.n_positions;
  record.vocab_size = model.config.vocab_size;
  record.parameters = model.config.parameters();
  record.output_head = model.config.tied ? "tied" : "stored";
  record.output_head_asked = model.head_asked;
  record.head_differing = model.head.differing;
  record.warnings = model.warnings;
  return record;
}

std::map<std::int32_t, std::string> used_tokens(const Report& report, const AuditRequest& request,
                                                const Tokenizer* tokenizer) {
  std::set<std::int32_t> used;
  for (const Run& run : report.runs) {
    used.insert(run.prompt_ids.begin(), run.prompt_ids.end());
    for (const Step& step : run.steps) {
      used.insert(step.token);
      for (const TokenLogit& top : step.top) {
        used.insert(top.id);
      }
    }
  }
  std::map<std::int32_t, std::string> tokens;
  for (const std::int32_t id : used) {
    if (tokenizer != nullptr) {
      tokens.emplace(id, tokenizer->token_bytes(id));
      continue;
    }
    for (const Side& side : request.sides) {
      const auto at = side.saved->report->tokens.find(id);
      if (at != side.saved->report->tokens.end()) {
        tokens.insert(*at);
      }
    }
  }
  return tokens;
}

}  // namespace drift
