// Two saved recordings of 20,000 steps, as 200 prompts of 100 tokens leave them: their size on
// disk, and the time to read and compare them, in seconds and against a plain parse of the same
// text.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/audit.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/saved_side.hpp"
#include "driftaudit/zstd.hpp"

#include "runner/split_mix.hpp"

namespace drift {
namespace {

constexpr std::uint32_t kVocabulary = 50257;
constexpr std::uint32_t kPrompts = 200;
constexpr std::uint32_t kSteps = 100;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A step with 64 kept logits, moved by a little on one side.
Step made_step(SplitMix64& random, float moved) {
  Step step;
  float logit = -30;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bits = random.next();
    step.top.push_back({static_cast<std::int32_t>(bits % kVocabulary), logit + moved});
    logit -= 0x1p-10F + static_cast<float>(bits >> 40) * 0x1p-24F;
  }
  step.token = step.top[0].id;
  step.logit = step.top[0].logit;
  step.gap = double{step.top[0].logit} - double{step.top[1].logit};
  step.logsumexp = double{step.logit} + 0.5;
  step.digest = fmt::format("{:016x}{:016x}", random.next(), moved == 0 ? 0U : 1U);
  return step;
}

Report made_record(float moved) {
  Report report;
  report.kind = "record";
  report.tool = "driftaudit bench";
  report.created = "2026-01-01T00:00:00Z";
  report.model.vocab_size = kVocabulary;
  report.settings.modes = {"greedy"};
  report.settings.new_tokens = kSteps;
  report.builds.resize(1);
  SplitMix64 random(1);
  for (std::uint32_t prompt = 1; prompt <= kPrompts; ++prompt) {
    Run run;
    run.mode = "greedy";
    run.prompt = prompt;
    run.prompt_ids = {static_cast<std::int32_t>(prompt)};
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      run.steps.push_back(made_step(random, moved));
    }
    report.runs.push_back(std::move(run));
  }
  return report;
}

void run() {
  const TemporaryFolder folder(fs::temp_directory_path(), "driftaudit-bench");
  const fs::path a = folder.path() / "a.json.zst";
  const fs::path b = folder.path() / "b.json.zst";
  write_report(made_record(0), a);
  write_report(made_record(0x1p-18F), b);
  fmt::print("one side of {} steps on disk: {:.1f} MB\n", kPrompts * kSteps,
             static_cast<double>(fs::file_size(a)) / 1e6);
  const auto progress = make_silent_progress();
  Report compared;
  const double ours = seconds_of([&] {
    const auto [x, y] = open_saved_sides(a.string(), b.string(), *progress);
    compared = compare_saved(x, y, false, "driftaudit bench");
  });
  if (compared.summary.steps_changed != kPrompts * kSteps) {
    fmt::print(stderr, "error: the comparison missed changed steps\n");
    std::exit(1);
  }
  const double plain = seconds_of([&] {
    for (const fs::path& path : {a, b}) {
      const MappedFile file(path);
      const std::string text =
          zstd_decompressed(file.bytes(), std::uint64_t{1} << 32, path.string());
      if (nlohmann::json::parse(text).empty()) {
        std::exit(1);
      }
    }
  });
  fmt::print("read and compare both: {:.2f} s, {:.2f} × a plain parse of both\n", ours,
             ours / plain);
}

}  // namespace
}  // namespace drift

int main() { drift::run(); }
