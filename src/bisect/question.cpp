#include "driftaudit/question.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace drift {
namespace {

void append_prompts(std::string& text, const std::vector<Prompt>& prompts) {
  for (const Prompt& prompt : prompts) {
    text += fmt::format("{}\n", fmt::join(prompt.ids, " "));
  }
}

/// Leaves one prompt with its batch, or one window of the text, and their first steps. Gives how
/// many prompts before them are left out.
std::uint32_t restrict_to(AuditRequest& request, const BisectPart& part) {
  request.settings.modes = {part.mode};
  const std::uint32_t index = part.prompt - 1;
  if (part.mode == "score") {
    request.text = {request.text.at(index)};
    return index;
  }
  const std::uint32_t size = request.settings.batch;
  const std::uint32_t before = index / size * size;
  const std::vector<Prompt>& all = request.prompts.prompts;
  const auto first = all.begin() + before;
  request.prompts.prompts =
      std::vector<Prompt>(first, first + std::min<std::ptrdiff_t>(size, all.end() - first));
  request.settings.new_tokens = part.steps;
  return before;
}

}  // namespace

std::string ModelQuestion::identity() const {
  const SettingsRecord& s = request_.settings;
  std::string text = fmt::format(
      "model {}\nmeasure {} {}\nmodes {}\nnew_tokens {}\ntop_k {}\nseed {}\ntemperature {}\n"
      "ignore_eos {}\nend_of_text {}\ncache {}\nsampler {}\ndtype {}\nbatch {}\n",
      model_.digest, measure_.name(), measure_.most, fmt::join(s.modes, ","), s.new_tokens, s.top_k,
      s.seed, s.temperature, s.ignore_eos, fmt::join(model_.config.end_of_text, ","), s.cache,
      s.sampler, s.dtype, s.batch);
  text += "prompts\n";
  append_prompts(text, request_.prompts.prompts);
  text += "text\n";
  append_prompts(text, request_.text);
  return text;
}

Report ModelQuestion::ask(const Side& side, const std::optional<BisectPart>& part,
                          const std::filesystem::path& logits, Progress& progress) const {
  AuditRequest request = request_;
  request.sides = {side};
  request.settings.keep_top = kLeastKept;
  if (measure_.kind == Measure::Kind::kLogits) {
    request.logits = logits;
  }
  const std::uint32_t before = part ? restrict_to(request, *part) : 0;
  Report report = run_audit(request, model_, progress);
  for (Run& run : report.runs) {
    run.prompt += before;
  }
  return report;
}

Answer ModelQuestion::answer_of(const Report& report, const std::filesystem::path& folder) const {
  Answer answer{&report, {}};
  if (!report.logits) {
    return answer;
  }
  std::shared_ptr<const LogitsFile>& file = logits_files_[report.logits->file];
  if (file == nullptr) {
    file = std::make_shared<const LogitsFile>(folder, *report.logits);
  }
  answer.logits = [&report, file](std::size_t run, std::size_t step) {
    return file->logits(static_cast<std::uint32_t>(run), static_cast<std::uint32_t>(step + 1),
                        report.runs.at(run).steps.at(step).digest);
  };
  return answer;
}

bool ModelQuestion::same(const Report& a, const Report& b, const std::optional<BisectPart>& part,
                         const std::filesystem::path& folder) const {
  return equal_answers(answer_of(a, folder), answer_of(b, folder), measure_, part);
}

BisectPart ModelQuestion::cheapest(const Report& a, const Report& b,
                                   const std::filesystem::path& folder) const {
  return cheapest_part(answer_of(a, folder), answer_of(b, folder), measure_);
}

}  // namespace drift
