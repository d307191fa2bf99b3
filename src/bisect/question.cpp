#include "driftaudit/question.hpp"

#include <fmt/format.h>

namespace drift {
namespace {

/// The least that a report keeps; digests and tokens are all that most measures look at.
constexpr std::uint32_t kLeastKept = 2;

void append_prompts(std::string& text, const std::vector<Prompt>& prompts) {
  for (const Prompt& prompt : prompts) {
    text += fmt::format("{}\n", fmt::join(prompt.ids, " "));
  }
}

/// Leaves one prompt, or one window of the text, and its first steps.
void restrict_to(AuditRequest& request, const BisectPart& part) {
  request.settings.modes = {part.mode};
  const std::size_t index = part.prompt - 1;
  if (part.mode == "score") {
    request.text = {request.text.at(index)};
  } else {
    request.prompts.prompts = {request.prompts.prompts.at(index)};
    request.settings.new_tokens = part.steps;
  }
}

}  // namespace

std::string ModelQuestion::identity() const {
  const SettingsRecord& s = request_.settings;
  std::string text = fmt::format(
      "model {}\nmeasure {} {}\nmodes {}\nnew_tokens {}\ntop_k {}\nseed {}\ntemperature {}\n"
      "ignore_eos {}\ncache {}\nsampler {}\ndtype {}\n",
      model_.digest, measure_.name(), measure_.most, fmt::join(s.modes, ","), s.new_tokens, s.top_k,
      s.seed, s.temperature, s.ignore_eos, s.cache, s.sampler, s.dtype);
  text += "prompts\n";
  append_prompts(text, request_.prompts.prompts);
  text += "text\n";
  append_prompts(text, request_.text);
  return text;
}

Report ModelQuestion::ask(const Side& side, const std::optional<BisectPart>& part,
                          Progress& progress) const {
  AuditRequest request = request_;
  request.sides = {side};
  // With every logit kept the measure has all that it needs in the report itself.
  request.settings.keep_top =
      measure_.kind == Measure::Kind::kLogits ? model_.config.vocab_size : kLeastKept;
  if (part) {
    restrict_to(request, *part);
  }
  Report report = run_audit(request, model_, progress);
  if (part) {
    report.runs.at(0).prompt = part->prompt;
  }
  return report;
}

Answer ModelQuestion::answer_of(const Report& report) const {
  Answer answer{&report, {}};
  answer.logits = [&report, size = model_.config.vocab_size](std::size_t run, std::size_t step) {
    std::vector<float> logits(size);
    for (const TokenLogit& entry : report.runs.at(run).steps.at(step).top) {
      logits.at(static_cast<std::size_t>(entry.id)) = entry.logit;
    }
    return logits;
  };
  return answer;
}

bool ModelQuestion::same(const Report& a, const Report& b,
                         const std::optional<BisectPart>& part) const {
  return equal_answers(answer_of(a), answer_of(b), measure_, part);
}

BisectPart ModelQuestion::cheapest(const Report& a, const Report& b) const {
  return cheapest_part(answer_of(a), answer_of(b), measure_);
}

}  // namespace drift
