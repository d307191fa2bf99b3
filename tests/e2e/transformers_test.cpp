// The proof that a runner's bits are those of Hugging Face's transformers on the same libtorch: the
// same tokens and the same raw logits, at every step.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/build.hpp"
#include "driftaudit/build_store.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/made_model.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/prompts.hpp"
#include "driftaudit/runner_process.hpp"
#include "driftaudit/weights.hpp"

#include "e2e/test_venvs.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// A model as both sides see it.
struct TestModel {
  std::string name;
  fs::path folder;
  fs::path weights;
  std::vector<std::int32_t> end_of_text;
  std::vector<std::vector<std::int32_t>> prompts;
  std::uint32_t new_tokens = 0;
};

/// One prompt in one run, as transformers answered it.
struct Reference {
  std::string run;
  std::uint32_t batch = 0;  ///< as in wire::Task
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> tokens;
  std::size_t first_logit = 0;  ///< in the dump
};

/// All that one Python process dumped.
struct Dump {
  std::vector<Reference> references;
  std::string logits;  ///< raw float32

  const char* logits_of(const Reference& reference, std::size_t step,
                        std::size_t vocabulary) const {
    return logits.data() + (reference.first_logit + step * vocabulary) * sizeof(float);
  }
};

/// How many prompts run together in the runs "batch" and "batch-loop": with eight prompts two full
/// batches and a smaller one.
constexpr std::uint32_t kBatch = 3;

wire::Task task_of(std::uint32_t id, const Reference& reference, const TestModel& model) {
  wire::Task task;
  task.id = id;
  task.mode = reference.run == "sample" ? wire::Mode::kSample : wire::Mode::kGreedy;
  task.cache = reference.run != "loop" && reference.run != "batch-loop";
  task.ids = reference.prompt;
  task.batch = reference.batch;
  task.new_tokens = model.new_tokens;
  task.end_of_text = model.end_of_text;
  task.top_k = reference.run == "sample" ? 50 : 0;
  task.seed = 1234;
  return task;
}

float largest_difference(const char* expected, const std::vector<float>& got) {
  float largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    float value = 0;
    std::memcpy(&value, expected + i * sizeof value, sizeof value);
    largest = std::max(largest, std::abs(value - got[i]));
  }
  return largest;
}

class Transformers : public test::NeedsPython39 {
 protected:
  void SetUp() override {
    test::NeedsPython39::SetUp();
    if (python_.empty()) {
      return;
    }
    add_model("mini", fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "models/mini", 8, 24);
    const fs::path made = scratch_.path() / "made";
    make_model(made, {MadePreset::kGpt2Small, 7, CheckpointFormat::kTorchLegacy}, *progress_);
    add_model("gpt2-small", made, 3, 5);
  }

  /// Runs everything under this environment's Python and under the runner made for its torch.
  void expect_the_same_bits(const fs::path& venv, const std::string& python_path = "") {
    const Runner runner = open_runner(inspect_build(venv), *progress_);
    for (const TestModel& model : models_) {
      for (const std::uint32_t threads : {1U, 2U}) {
        SCOPED_TRACE(fmt::format("{}, {} threads", model.name, threads));
        const Dump dump = run_transformers(venv, python_path, model, threads, "float32");
        compare(dump, runner, model, threads, wire::DType::kFloat32);
      }
    }
    SCOPED_TRACE("mini in bfloat16");
    const TestModel& mini = models_.front();
    compare(run_transformers(venv, python_path, mini, 1, "bfloat16"), runner, mini, 1,
            wire::DType::kBFloat16);
  }

 private:
  void add_model(const std::string& name, const fs::path& folder, std::size_t prompts,
                 std::uint32_t new_tokens) {
    ModelConfig config = read_model_config(folder / "config.json");
    TestModel model{name, folder,    scratch_.path() / (name + ".weights"), config.end_of_text,
                    {},   new_tokens};
    write_canonical_weights(folder, config, model.weights);
    for (const Prompt& prompt :
         load_prompts("eight", Tokenizer::from_folder(folder), config).prompts) {
      if (model.prompts.size() < prompts) {
        model.prompts.push_back(prompt.ids);
      }
    }
    models_.push_back(std::move(model));
  }

  Dump run_transformers(const fs::path& venv, const std::string& python_path,
                        const TestModel& model, std::uint32_t threads,
                        const std::string& dtype) const {
    const fs::path request = scratch_.path() / "request.json";
    const std::string out = (scratch_.path() / "out").string();
    std::vector<std::string> runs = {"loop", "generate"};
    if (dtype == "float32") {  // else transformers samples from logits of that dtype
      runs.emplace_back("sample");
    }
    if (threads == 1 || &model == &models_.front()) {  // the large model's take minutes
      runs.emplace_back("batch");
      runs.emplace_back("batch-loop");
    }
    write_file(request, json{{"threads", threads},
                             {"dtype", dtype},
                             {"new_tokens", model.new_tokens},
                             {"runs", runs},
                             {"batch", kBatch},
                             {"prompts", model.prompts}}
                            .dump());
    auto environment = python_environment();
    environment["PYTHONPATH"] = python_path;
    const fs::path script = fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "tests/e2e/transformers_dump.py";
    const ProcessResult result = run_process({{(venv / "bin/python").string(), script.string(),
                                               model.folder.string(), request.string(), out},
                                              environment,
                                              {}});
    EXPECT_TRUE(result.end.ok()) << result.err;

    Dump dump;
    dump.logits = read_file(out + ".bin");
    std::size_t at = 0;
    const std::size_t vocabulary = read_model_config(model.folder / "config.json").vocab_size;
    for (const json& entry : json::parse(read_file(out + ".json"))) {
      const std::string run = entry.at("run");
      const std::uint32_t prompt = entry.at("prompt");
      const bool batched = run == "batch" || run == "batch-loop";
      // Two runs that follow each other may share a number only where they aren't batches.
      const std::uint32_t batch = (run == "batch" ? 1 : 1001) + prompt / kBatch;
      dump.references.push_back(
          {run, batched ? batch : 0, model.prompts.at(prompt), entry.at("tokens"), at});
      at += dump.references.back().tokens.size() * vocabulary;
    }
    EXPECT_EQ(dump.references.size(), runs.size() * model.prompts.size());
    EXPECT_EQ(dump.logits.size(), at * sizeof(float));
    return dump;
  }

  static void compare(const Dump& dump, const Runner& runner, const TestModel& model,
                      std::uint32_t threads, wire::DType dtype) {
    wire::Job job;
    job.dtype = dtype;
    job.weights = model.weights.string();
    job.threads = threads;
    for (const Reference& reference : dump.references) {
      job.tasks.push_back(task_of(static_cast<std::uint32_t>(job.tasks.size()), reference, model));
    }
    RunnerLaunch launch;
    launch.label = model.name;
    launch.program = runner.program;
    launch.environment = test_runner_environment();
    RunnerProcess process(launch, job);
    std::vector<std::vector<std::int32_t>> tokens(job.tasks.size());
    for (;;) {
      const RunnerProcess::Event event = process.next();
      if (std::holds_alternative<wire::Done>(event)) {
        break;
      }
      if (const auto* step = std::get_if<wire::Step>(&event)) {
        const Reference& reference = dump.references.at(step->task);
        tokens.at(step->task).push_back(step->token);
        ASSERT_LE(step->step, reference.tokens.size());
        const char* expected = dump.logits_of(reference, step->step - 1, step->logits.size());
        ASSERT_EQ(std::memcmp(expected, step->logits.data(), step->logits.size() * sizeof(float)),
                  0)
            << reference.run << ", task " << step->task << ", step " << step->step
            << ": logits differ by up to " << largest_difference(expected, step->logits);
      }
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(tokens[i], dump.references[i].tokens) << dump.references[i].run << ", task " << i;
    }
  }

  std::unique_ptr<Progress> progress_ = make_silent_progress();
  TemporaryFolder scratch_{fs::temp_directory_path(), "driftaudit-transformers"};
  std::vector<TestModel> models_;
};

TEST_F(Transformers, OfJanuaryComputeTheRunnersBits) {
  expect_the_same_bits(january_venv(python_));
}

TEST_F(Transformers, OfDecemberComputeTheRunnersBits) {
  expect_the_same_bits(december_venv(python_));
}

TEST_F(Transformers, OfDecemberOnTorchOfJanuaryComputeTheRunnersBits) {
  expect_the_same_bits(january_venv(python_), swapped_packages(python_).string());
}

}  // namespace
}  // namespace drift
