// The proof that a runner's bits are those of Hugging Face's transformers on the same libtorch: the
// same tokens and the same raw logits, at every step, with eager attention and with
// scaled_dot_product_attention.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
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

/// What a model is run in.
struct Setting {
  std::uint32_t threads = 1;
  wire::DType dtype = wire::DType::kFloat32;
  wire::Attention attention = wire::Attention::kEager;
  std::vector<std::string> runs;

  std::string dtype_name() const { return dtype == wire::DType::kFloat32 ? "float32" : "bfloat16"; }
  std::string attention_name() const {
    return attention == wire::Attention::kEager ? "eager" : "sdpa";
  }
};

/// A transformers with its torch.
struct Environment {
  fs::path venv;
  std::map<std::string, std::string> variables;  ///< that its Python needs
  /// Those of its eager attention's calls.
  wire::ScoreScale score_scale = wire::ScoreScale::kDivide;
  wire::GenerateCalls generate_calls = wire::GenerateCalls::kAllPositions;

  bool chooses_attention() const { return generate_calls == wire::GenerateCalls::kLastPosition; }
};

/// One prompt in one run, as transformers answered it.
struct Reference {
  std::size_t setting = 0;
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

const std::vector<std::string> kEveryRun = {"loop", "generate", "sample", "batch", "batch-loop"};
/// Where transformers of then samples from logits of another type, or where time matters.
const std::vector<std::string> kGreedyRuns = {"loop", "generate", "batch", "batch-loop"};
const std::vector<std::string> kFewRuns = {"generate", "batch"};

class Transformers : public test::NeedsPython39 {
 protected:
  TestModel mini(std::size_t prompts, std::uint32_t new_tokens) const {
    return model("mini", fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "models/mini", prompts, new_tokens);
  }

  TestModel gpt2_small(CheckpointFormat format, std::size_t prompts,
                       std::uint32_t new_tokens) const {
    const fs::path made = scratch_.path() / "made";
    make_model(made, {MadePreset::kGpt2Small, 7, format}, *progress_);
    return model("gpt2-small", made, prompts, new_tokens);
  }

  /// Heads of width 8, whose root isn't a power of two: dividing by it gives other bits than
  /// multiplying by its inverse.
  TestModel narrow(bool scaled_by_layer) const {
    const std::string name = scaled_by_layer ? "narrow, scaled by layer" : "narrow";
    const fs::path folder = scratch_.path() / name;
    make_model(folder, {}, *progress_);
    json config = json::parse(read_file(folder / "config.json"));
    config["n_head"] = config.at("n_embd").get<int>() / 8;
    config["scale_attn_by_inverse_layer_idx"] = scaled_by_layer;
    write_file(folder / "config.json", config.dump());
    return model(name, folder, 4, 8);
  }

  /// Runs every setting under this environment's Python and under the runner made for its torch.
  void expect_the_same_bits(const Environment& environment, const TestModel& model,
                            const std::vector<Setting>& settings) {
    const Runner runner = open_runner(inspect_build(environment.venv), *progress_);
    const Dump dump = run_transformers(environment, model, settings);
    for (std::size_t i = 0; i < settings.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}, {} threads, {}, {}", model.name, settings[i].threads,
                               settings[i].dtype_name(), settings[i].attention_name()));
      compare(dump, i, runner, model, job_of(environment, model, settings[i]));
    }
  }

  /// Of transformers that has eager attention alone.
  void expect_the_same_eager_bits(const Environment& environment) {
    using wire::DType;
    const auto eager = wire::Attention::kEager;
    expect_the_same_bits(environment, mini(8, 24),
                         {{1, DType::kFloat32, eager, kEveryRun},
                          {2, DType::kFloat32, eager, kEveryRun},
                          {1, DType::kBFloat16, eager, kGreedyRuns}});
    expect_the_same_bits(environment, gpt2_small(CheckpointFormat::kTorchLegacy, 3, 5),
                         {{1, DType::kFloat32, eager, kEveryRun},
                          {2, DType::kFloat32, eager, {"loop", "generate", "sample"}}});
  }

  /// Of transformers that has both, and scaled_dot_product_attention by default.
  void expect_the_same_bits_of_both(const Environment& environment) {
    using wire::DType;
    std::vector<Setting> of_mini, of_narrow, of_large;
    for (const wire::Attention attention : {wire::Attention::kSdpa, wire::Attention::kEager}) {
      of_mini.push_back({1, DType::kFloat32, attention, kEveryRun});
      of_mini.push_back({2, DType::kFloat32, attention, kFewRuns});
      of_mini.push_back({1, DType::kBFloat16, attention, kGreedyRuns});
      of_mini.push_back({2, DType::kBFloat16, attention, kFewRuns});
      of_narrow.push_back({1, DType::kFloat32, attention, kGreedyRuns});
      of_narrow.push_back({1, DType::kBFloat16, attention, kGreedyRuns});
      of_large.push_back({2, DType::kFloat32, attention, {"generate"}});
    }
    expect_the_same_bits(environment, mini(5, 8), of_mini);
    expect_the_same_bits(environment, narrow(false), of_narrow);
    expect_the_same_bits(environment, narrow(true), of_narrow);
    expect_the_same_bits(environment, gpt2_small(CheckpointFormat::kSafetensors, 2, 4), of_large);
  }

  /// For a torch whose CUDA libraries aren't there.
  std::map<std::string, std::string> with_stand_ins() const {
    const fs::path folder = scratch_.path() / "stand-ins";
    fs::create_directory(folder);
    make_stand_ins(folder);
    return {{"LD_LIBRARY_PATH", folder.string()}};
  }

 private:
  TestModel model(const std::string& name, const fs::path& folder, std::size_t prompts,
                  std::uint32_t new_tokens) const {
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
    return model;
  }

  Dump run_transformers(const Environment& environment, const TestModel& model,
                        const std::vector<Setting>& settings) const {
    const fs::path request = scratch_.path() / "request.json";
    const std::string out = (scratch_.path() / "out").string();
    json asked = json::array();
    std::size_t runs = 0;
    for (const Setting& setting : settings) {
      asked.push_back(
          {{"threads", setting.threads},
           {"dtype", setting.dtype_name()},
           {"attention", environment.chooses_attention() ? setting.attention_name() : ""},
           {"runs", setting.runs}});
      runs += setting.runs.size();
    }
    write_file(request, json{{"new_tokens", model.new_tokens},
                             {"settings", asked},
                             {"batch", kBatch},
                             {"prompts", model.prompts}}
                            .dump());
    auto variables = python_environment();
    for (const auto& [name, value] : environment.variables) {
      variables[name] = value;
    }
    const fs::path script = fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "tests/e2e/transformers_dump.py";
    const ProcessResult result =
        run_process({{(environment.venv / "bin/python").string(), script.string(),
                      model.folder.string(), request.string(), out},
                     variables,
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
      dump.references.push_back({entry.at("setting"), run, batched ? batch : 0,
                                 model.prompts.at(prompt), entry.at("tokens"), at});
      at += dump.references.back().tokens.size() * vocabulary;
    }
    EXPECT_EQ(dump.references.size(), runs * model.prompts.size());
    EXPECT_EQ(dump.logits.size(), at * sizeof(float));
    return dump;
  }

  static wire::Job job_of(const Environment& environment, const TestModel& model,
                          const Setting& setting) {
    wire::Job job;
    job.weights = model.weights.string();
    job.threads = setting.threads;
    job.dtype = setting.dtype;
    job.attention = setting.attention;
    job.score_scale = environment.score_scale;
    job.generate_calls = environment.generate_calls;
    return job;
  }

  static void compare(const Dump& dump, std::size_t setting, const Runner& runner,
                      const TestModel& model, wire::Job job) {
    std::vector<Reference> references;
    for (const Reference& reference : dump.references) {
      if (reference.setting == setting) {
        job.tasks.push_back(
            task_of(static_cast<std::uint32_t>(references.size()), reference, model));
        references.push_back(reference);
      }
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
        const Reference& reference = references.at(step->task);
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
      EXPECT_EQ(tokens[i], references[i].tokens) << references[i].run << ", task " << i;
    }
  }

  std::unique_ptr<Progress> progress_ = make_silent_progress();
  TemporaryFolder scratch_{fs::temp_directory_path(), "driftaudit-transformers"};
};

TEST_F(Transformers, OfJanuaryComputeTheRunnersBits) {
  expect_the_same_eager_bits({january_venv(python_), {}});
}

TEST_F(Transformers, OfDecemberComputeTheRunnersBits) {
  expect_the_same_eager_bits({december_venv(python_), {}});
}

TEST_F(Transformers, OfDecemberOnTorchOfJanuaryComputeTheRunnersBits) {
  expect_the_same_eager_bits(
      {january_venv(python_), {{"PYTHONPATH", swapped_packages(python_).string()}}});
}

TEST_F(Transformers, OfThe4thVersionsLastComputeTheRunnersBits) {
  expect_the_same_bits_of_both({last_4_venv(python_), with_stand_ins(), wire::ScoreScale::kDivide,
                                wire::GenerateCalls::kLastPosition});
}

TEST_F(Transformers, OfThe5thVersionComputeTheRunnersBits) {
  const auto python = test::find_python311();
  if (!python) {
    GTEST_SKIP() << "no Python 3.11 to 3.13: set DRIFTAUDIT_PYTHON311 to one";
  }
  expect_the_same_bits_of_both({version_5_venv(*python), with_stand_ins(),
                                wire::ScoreScale::kMultiply, wire::GenerateCalls::kLastPosition});
}

}  // namespace
}  // namespace drift
