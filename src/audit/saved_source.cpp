#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "audit/sources.hpp"

namespace drift {
namespace {

class SavedSource : public StepSource {
 public:
  explicit SavedSource(const SavedSide& side) : side_(side) {}

  void begin(BuildRecord& record) override {
    record = side_.record();
    record.recorded = side_.recorded();
  }

  void begin_task(Run& run) override {
    const auto at = side_.runs.find({run.mode, run.prompt});
    if (at == side_.runs.end()) {
      throw usage_error(
          fmt::format("{}: has no run of prompt {} in mode {}", side_.name, run.prompt, run.mode));
    }
    run_ = at->second;
    taken_ = 0;
    run.cache = recorded().cache;
  }

  std::optional<Step> next(Stop& stopped) override {
    if (taken_ == recorded().steps.size()) {
      stopped = recorded().stopped;
      return std::nullopt;
    }
    return recorded().steps[taken_++];
  }

  bool knows_logits() const override { return side_.logits != nullptr; }

  const std::vector<float>& last_logits() override {
    logits_ =
        side_.logits->logits(static_cast<std::uint32_t>(run_), static_cast<std::uint32_t>(taken_),
                             recorded().steps[taken_ - 1].digest);
    return logits_;
  }

  void feed(std::int32_t) override {}  // its tokens stand in the report
  void finish(BuildRecord&) override {}
  std::optional<std::string> text() const override { return recorded().text; }

 private:
  const Run& recorded() const { return side_.report->runs[run_]; }

  const SavedSide& side_;
  std::size_t run_ = 0;
  std::size_t taken_ = 0;  // steps of the run
  std::vector<float> logits_;
};

}  // namespace

std::unique_ptr<StepSource> saved_source(const SavedSide& side) {
  return std::make_unique<SavedSource>(side);
}

}  // namespace drift
