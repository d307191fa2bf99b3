#include <map>
#include <utility>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/gap_figures.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/measure.hpp"
#include "driftaudit/study.hpp"

#include "bisect/probe_store.hpp"
#include "study/conclude.hpp"

namespace drift {
namespace {

/// Logits kept of each step: its two highest, and what may overtake them.
constexpr std::uint32_t kKept = 4;
/// The same beyond those that a token is drawn from, for ties with the last of them.
constexpr std::uint32_t kKeptTies = 8;

std::size_t index_of(StudyCondition condition) { return static_cast<std::size_t>(condition); }

/// Where a condition's build stands in the report.
std::uint32_t build_of(StudyCondition condition) {
  constexpr std::array<std::uint32_t, kStudyConditions> kBuilds{0, 1, 1, 2, 3, 4};
  return kBuilds.at(index_of(condition));
}

/// Says in front of each step which part of the study it belongs to.
class PartProgress : public Progress {
 public:
  PartProgress(Progress& progress, std::string part)
      : progress_(progress), part_(std::move(part)) {}

  void start(std::string_view label, std::uint64_t total, Unit unit) override {
    progress_.start(fmt::format("{}: {}", part_, label), total, unit);
  }
  void update(std::uint64_t done) override { progress_.update(done); }
  void finish() override { progress_.finish(); }
  void note(std::string_view line) override { progress_.note(line); }

 private:
  Progress& progress_;
  std::string part_;
};

class Study {
 public:
  Study(const StudyRequest& request, const StudyRunner& run, Progress& progress)
      : request_(request),
        run_(run),
        progress_(progress),
        store_("study", sha256_hex(request.identity).substr(0, 24), progress) {
    store_.note_kept("answer", progress);
    report_.kind = "study";
    report_.tool = request.base.tool;
    report_.created = utc_now();
    report_.host = this_host();
    report_.prompts = request.base.prompts.name;
    report_.settings = request.base.settings;
    report_.settings.modes = {"greedy", "sample"};
    report_.settings.keep_top = kKept;
    report_.study.emplace().quick = request.quick;
  }

  Report run() {
    using enum StudyCondition;
    report_.builds.resize(kDistinct);
    begin_part("the prompts in three modes");
    compare("upgrade", kFirst, kLast, "greedy", true);
    compare("upgrade", kFirst, kLast, "greedy", false);
    compare("upgrade", kFirst, kLast, "sample", true);
    begin_part("build by build");
    ask_range();
    begin_part("generic kernels");
    compare("kernels", kLast, kLastGeneric, "greedy", true);
    compare("generic upgrade", kFirstGeneric, kLastGeneric, "greedy", true);
    begin_part("one thread against several");
    compare("threads", kLast, kLastSingle, "greedy", true);
    begin_part("the gaps of six runs over the openings");
    look_at_gaps();
    if (request_.until_flip) {
      begin_part("the openings sampled");
      look_at_samples();
    }
    return std::move(report_);
  }

  /// To be called when the result is safe.
  void done() { store_.remove(); }

 private:
  static constexpr std::size_t kDistinct = 5;  ///< conditions that aren't a repetition
  static constexpr int kParts = 5;             ///< and one more with sampled text

  void begin_part(const char* name) {
    progress_.note(
        fmt::format("part {} of {}: {}", ++part_, request_.until_flip ? kParts + 1 : kParts, name));
  }

  const Side& side(StudyCondition condition) const {
    return request_.sides.at(index_of(condition));
  }

  StudyRecord& record() { return *report_.study; }

  /// An answer that is at hand, or asked for now.
  Report ask(const std::string& name, const std::string& part, const AuditRequest& request) {
    if (std::optional<Report> kept = store_.answer(name)) {
      return std::move(*kept);
    }
    PartProgress progress(progress_, part);
    Report answer = run_(request, progress);
    store_.keep_answer(name, answer);
    return answer;
  }

  AuditRequest asked_of(std::vector<Side> sides) const {
    AuditRequest request = request_.base;
    request.sides = std::move(sides);
    request.settings.keep_top = kKept;
    request.first_prompts_twice = false;
    return request;
  }

  void compare(const std::string& what, StudyCondition a, StudyCondition b, const std::string& mode,
               bool cache) {
    AuditRequest request = asked_of({side(a), side(b)});
    request.settings.modes = {mode};
    request.settings.cache = cache;
    request.first_prompts_twice = true;
    const std::string how = mode + (cache ? "" : " without the KV cache");
    const std::string part =
        fmt::format("{} against {}, {}", condition_name(a), condition_name(b), how);
    const Report audit = ask(fmt::format("{} {} {}", what, mode, cache), part, request);
    request.settings.new_tokens = 1;
    request.first_prompts_twice = false;
    const Report first = ask(fmt::format("{} {} {} first steps", what, mode, cache),
                             part + ", first steps", request);
    StudyPair pair = pair_figures(audit, first);
    pair.what = what;
    pair.a = build_of(a);
    pair.b = build_of(b);
    note_repeatable(pair.a, audit.builds.at(0).repeatable);
    note_repeatable(pair.b, audit.builds.at(1).repeatable);
    record().pairs.push_back(std::move(pair));
  }

  /// A build is repeatable where nothing has shown that it isn't.
  void note_repeatable(std::uint32_t build, const std::optional<bool>& repeatable) {
    if (repeatable) {
      std::optional<bool>& known = repeatable_[build];
      known = known.value_or(true) && *repeatable;
    }
  }

  void ask_range() {
    std::size_t position = 0;
    std::optional<Report> before = ask_in_range(side(StudyCondition::kFirst), position,
                                                build_of(StudyCondition::kFirst), nullptr);
    for (const RangeBuild& build : request_.between) {
      ++position;
      if (!build.side) {
        leave_out(build.label, build.reason);
        continue;
      }
      try {
        const auto index = static_cast<std::uint32_t>(report_.builds.size());
        before = ask_in_range(*build.side, position, index, &*before);
      } catch (const Error& error) {
        if (error.is_interruption()) {
          throw;
        }
        throw_if_disk_full(error);
        leave_out(build.label, error.what());
      }
    }
    ask_in_range(side(StudyCondition::kLast), position + 1, build_of(StudyCondition::kLast),
                 &*before);
  }

  void leave_out(const std::string& label, const std::string& reason) {
    progress_.note(fmt::format("{} is left out: {}", label, reason));
    StudyBuild& build = record().range.emplace_back();
    build.label = label;
    build.reason = reason;
  }

  /// A build's answer, asked twice and held against the one before it, null for the first. Its
  /// record stands at `index` of the report's builds, which grow by it where it is new.
  Report ask_in_range(const Side& side, std::size_t position, std::uint32_t index,
                      const Report* before) {
    AuditRequest request = asked_of({side});
    request.settings.modes = {"greedy", "sample"};
    request.settings.cache = true;
    StudyBuild build;
    build.label = side.build.label;
    const std::string name = fmt::format("range {}", position);
    const std::string part = build.label + " on the prompts";
    Report answer = ask(name, part, request);
    const Report again = ask(name + " again", part + ", again", request);
    build.repeatable = answer_digest(answer) == answer_digest(again);
    if (before != nullptr) {
      compare_in_range(*before, answer, build);
    }
    if (index >= report_.builds.size()) {
      report_.builds.push_back(answer.builds.at(0));
    }
    note_repeatable(index, build.repeatable);
    build.ran_as = index;
    record().range.push_back(std::move(build));
    return answer;
  }

  void look_at_gaps() {
    using enum StudyCondition;
    std::vector<Report> answers;
    for (const StudyCondition condition :
         {kFirst, kLast, kLastAgain, kLastSingle, kFirstGeneric, kLastGeneric}) {
      AuditRequest request = asked_of({side(condition)});
      request.settings.modes = {"greedy"};
      request.settings.cache = true;
      take_openings(request);
      const std::string name = condition_name(condition);
      answers.push_back(ask("openings " + name, name + " on the openings", request));
    }
    std::vector<OpeningsRun> runs;
    std::vector<const Report*> pointers;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto condition = static_cast<StudyCondition>(i);
      const BuildRecord& ran = answers[i].builds.at(0);
      StudyRun about;
      about.name = condition_name(condition);
      about.ran_as = build_of(condition);
      about.tokens_per_second = ran.tokens_per_second;
      runs.push_back({std::move(about), &answers[i]});
      pointers.push_back(&answers[i]);
      if (condition != kLastAgain) {
        report_.builds.at(build_of(condition)) = ran;
      }
    }
    report_.model = answers.front().model;
    record().gaps = gap_figures(runs, request_.openings.name, request_.opening_tokens);
    record().flips = flips_between(pointers, record().gaps);
    settle_repeatable();
  }

  void take_openings(AuditRequest& request) const {
    request.prompts = request_.openings;
    request.settings.new_tokens = request_.opening_tokens;
  }

  /// The records of builds are whole only now.
  void settle_repeatable() {
    const std::vector<StudyRun>& runs = record().gaps.runs;
    const bool same = runs.at(index_of(StudyCondition::kLast)).set ==
                      runs.at(index_of(StudyCondition::kLastAgain)).set;
    note_repeatable(build_of(StudyCondition::kLast), same);
    for (const auto& [build, repeatable] : repeatable_) {
      report_.builds.at(build).repeatable = repeatable;
    }
  }

  void look_at_samples() {
    AuditRequest request = asked_of({side(StudyCondition::kFirst), side(StudyCondition::kLast)});
    request.settings.modes = {"sample"};
    request.settings.cache = true;
    request.settings.on_divergence = "force";
    request.settings.keep_top = request.settings.top_k + kKeptTies;
    take_openings(request);
    record().sampled = sampled_figures(
        ask("sampled openings", "first and last on the openings, sampled", request));
  }

  const StudyRequest& request_;
  const StudyRunner& run_;
  Progress& progress_;
  ProbeStore store_;
  Report report_;
  int part_ = 0;
  std::map<std::uint32_t, std::optional<bool>> repeatable_;  ///< by build
};

}  // namespace

const char* condition_name(StudyCondition condition) {
  constexpr std::array<const char*, kStudyConditions> kNames{
      "first", "last", "last again", "last, 1 thread", "first, generic", "last, generic"};
  return kNames.at(index_of(condition));
}

Report run_study(const StudyRequest& request, const StudyRunner& run, Progress& progress) {
  Study study(request, run, progress);
  return resumable([&] {
    Report report = study.run();
    study.done();
    return report;
  });
}

}  // namespace drift
