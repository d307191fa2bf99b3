#include "driftaudit/operation_question.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/standalone_operation.hpp"
#include "driftaudit/tensor.hpp"

#include "audit/records.hpp"
#include "audit/sides.hpp"
#include "runner/split_mix.hpp"

namespace drift {
namespace {

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 5;  ///< of a matrix product's result
constexpr const char* kMode = "operation";

/// Every length to beyond a few registers of AVX-512, then those around powers of two and the
/// widths of GPT-2.
std::vector<std::int64_t> row_lengths() {
  constexpr std::int64_t kEvery = 80;
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 1; length <= kEvery; ++length) {
    lengths.push_back(length);
  }
  for (const std::int64_t length : {96, 127, 128, 129, 200, 255, 256, 257, 511, 512, 513, 768, 1000,
                                    1023, 1024, 1025, 2048, 3072, 4096}) {
    lengths.push_back(length);
  }
  return lengths;
}

/// Values from −4 to 4 that are the same on every machine.
wire::TensorData random_tensor(SplitMix64& random, const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
  }
  std::vector<float> values(static_cast<std::size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return random.symmetric(4); });
  return contiguous_tensor(sizes, values);
}

/// What an operation is given at a length.
std::vector<wire::TensorData> inputs_of(const std::string& name, std::int64_t length,
                                        SplitMix64& random) {
  const auto rows = [&] { return random_tensor(random, {kRows, length}); };
  const auto vector = [&] { return random_tensor(random, {length}); };
  const auto columns = [&] { return random_tensor(random, {length, kColumns}); };
  std::vector<wire::TensorData> inputs;
  if (name == "matmul") {
    inputs = {rows(), columns()};
  } else if (name == "addmm") {
    inputs = {random_tensor(random, {kColumns}), rows(), columns()};
  } else if (name == "dot") {
    inputs = {vector(), vector()};
  } else if (name == "layer_norm") {
    inputs = {rows(), vector(), vector()};
  } else if (name == "add" || name == "mul") {
    inputs = {rows(), rows()};
  } else {
    inputs = {rows()};
  }
  return inputs;
}

/// A number of calls, since one dot product is a single number.
std::vector<float> outputs_of(StandaloneOperation& operation, const std::string& name,
                              std::int64_t length) {
  constexpr int kCalls = 2;
  SplitMix64 random(static_cast<std::uint64_t>(length));
  std::vector<float> outputs;
  for (int call = 0; call < kCalls; ++call) {
    const std::vector<float> more = float_elements(operation(inputs_of(name, length, random)));
    outputs.insert(outputs.end(), more.begin(), more.end());
  }
  return outputs;
}

Run run_of(const std::string& name, std::uint32_t number, std::int64_t length,
           const std::vector<float>& outputs) {
  constexpr std::size_t kKept = 2;
  Run run;
  run.mode = kMode;
  run.prompt = number;
  run.prompt_text = fmt::format("{} of length {}", name, length);
  run.stopped = Stop::kFed;
  run.steps = {reduce_step(0, outputs, kKept)};
  return run;
}

/// The operation at each length, or at the one that a part names, in a process of its own.
std::vector<Run> runs_of(StandaloneOperation& operation, const std::string& name,
                         const std::optional<BisectPart>& part) {
  const std::vector<std::int64_t> lengths = row_lengths();
  std::vector<Run> runs;
  for (std::uint32_t number = 1; number <= lengths.size(); ++number) {
    if (!part || part->prompt == number) {
      const std::int64_t length = lengths[number - 1];
      runs.push_back(run_of(name, number, length, outputs_of(operation, name, length)));
    }
  }
  return runs;
}

}  // namespace

const std::vector<std::string>& OperationQuestion::names() {
  static const std::vector<std::string> names = {"softmax",
                                                 "sum",
                                                 "mean",
                                                 "matmul",
                                                 "addmm",
                                                 "dot",
                                                 "layer_norm",
                                                 "exp",
                                                 "tanh",
                                                 "pow3",
                                                 "add",
                                                 "mul",
                                                 "sleef_expf8_u10",
                                                 "sleef_expf16_u10"};
  return names;
}

std::string OperationQuestion::identity() const { return "operation " + name_ + "\n"; }

Report OperationQuestion::ask(const Side& side, const std::optional<BisectPart>& part,
                              const std::filesystem::path&, Progress& progress) const {
  const RunnerLaunch launch = launch_of(side, side.build.label, timeout_seconds_);
  Report report;
  report.kind = "record";
  report.created = utc_now();
  report.host = this_host();
  report.builds = {build_record(side)};
  progress.start(fmt::format("{}: {}", side.build.label, name_), 0, Progress::Unit::kItems);
  StandaloneOperation operation(launch, name_, side.threads, side.fault);
  report.runs = runs_of(operation, name_, part);
  StandaloneOperation again(launch, name_, side.threads, side.fault);
  Report repeated;
  repeated.runs = runs_of(again, name_, part);
  progress.finish();
  BuildRecord& build = report.builds[0];
  record_facts(operation.facts(), build);
  build.log = operation.log_tail();
  build.repeatable = answer_digest(report) == answer_digest(repeated);
  return report;
}

bool OperationQuestion::same(const Report& a, const Report& b,
                             const std::optional<BisectPart>& part,
                             const std::filesystem::path&) const {
  return equal_answers({&a, {}}, {&b, {}}, {}, part);
}

BisectPart OperationQuestion::cheapest(const Report& a, const Report& b,
                                       const std::filesystem::path&) const {
  return cheapest_part({&a, {}}, {&b, {}}, {});
}

}  // namespace drift
