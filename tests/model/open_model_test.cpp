#include <chrono>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/made_model.hpp"
#include "driftaudit/model.hpp"

#include "model/test_hub.hpp"
#include "shared/python.hpp"

namespace drift {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Counts the bytes that were hashed or fetched.
class Work final : public Progress {
 public:
  void start(std::string_view label, std::uint64_t, Unit) override { steps.emplace_back(label); }
  void update(std::uint64_t) override {}
  void finish() override {}
  void note(std::string_view) override {}

  std::vector<std::string> steps;
};

class OpenModel : public ::testing::Test {
 protected:
  void SetUp() override { make_model(tiny(), {}, *silent_); }

  fs::path tiny() const { return folder_.path() / "tiny"; }
  Model open(const std::string& name) { return open_model(name, {}, work_); }
  /// Gives the checkpoint a head that isn't its embedding.
  void add_output_head() {
    const std::string file = read_file(tiny() / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    json header = json::parse(file.substr(sizeof length, length));
    const std::string data = file.substr(sizeof length + length);
    const std::string head(std::size_t{4096} * 32 * sizeof(float), '\0');
    header["lm_head.weight"] = {{"dtype", "F32"},
                                {"shape", {4096, 32}},
                                {"data_offsets", {data.size(), data.size() + head.size()}}};
    const std::string text = header.dump();
    length = text.size();
    std::string changed(sizeof length, '\0');
    std::memcpy(changed.data(), &length, sizeof length);
    write_file(tiny() / "model.safetensors", changed + text + data + head);
  }

  void expect_refused(const std::string& name, const std::string& words,
                      const std::string& hint = "") {
    try {
      open(name);
      FAIL() << "opened, though: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(name));
      EXPECT_THAT(error.what(), HasSubstr(words));
      EXPECT_THAT(error.hint(), HasSubstr(hint));
    }
  }

  TemporaryFolder folder_ = test::scratch_folder();
  test::ScopedEnvironment data_{"DRIFTAUDIT_DATA", test::source_folder().string()};
  test::ScopedEnvironment cache_{"DRIFTAUDIT_CACHE", (folder_.path() / "cache").string()};
  std::unique_ptr<Progress> silent_ = make_silent_progress();
  Work work_;
};

TEST_F(OpenModel, OpensMini) {
  const Model model = open("mini");
  EXPECT_EQ(model.name, "mini");
  EXPECT_EQ(model.why, "") << "it was asked for by name";
  EXPECT_EQ(model.source, test::mini_folder());
  EXPECT_EQ(model.source_dtype, "float16");
  EXPECT_EQ(model.config.n_layer, 4u);
  EXPECT_TRUE(model.config.tied);
  EXPECT_EQ(model.tokenizer.size(), 4096u);
  EXPECT_EQ(model.digest, sha256_file(model.weights));
  EXPECT_EQ(model.weights.parent_path(), folder_.path() / "cache/models/canonical");
}

TEST_F(OpenModel, OpensAFolderOrAFileInIt) {
  const Model folder = open(tiny().string());
  const Model file = open((tiny() / "model.safetensors").string());
  EXPECT_EQ(folder.name, tiny().string());
  EXPECT_EQ(file.source, tiny() / "model.safetensors");
  EXPECT_EQ(folder.weights, file.weights);
  EXPECT_EQ(folder.digest, file.digest);
}

TEST_F(OpenModel, HashesNothingTheSecondTime) {
  const Model first = open(tiny().string());
  EXPECT_FALSE(work_.steps.empty());
  const auto written = fs::last_write_time(first.weights);
  work_.steps.clear();
  const Model second = open(tiny().string());
  EXPECT_THAT(work_.steps, IsEmpty());
  EXPECT_EQ(second.weights, first.weights);
  EXPECT_EQ(second.digest, first.digest);
  EXPECT_EQ(second.source_dtype, first.source_dtype);
  EXPECT_EQ(fs::last_write_time(second.weights), written);
}

TEST_F(OpenModel, SeesThatAFileChanged) {
  const Model first = open(tiny().string());
  const fs::path other = folder_.path() / "other";
  MadeModelOptions options;
  options.seed = 2;
  make_model(other, options, *silent_);
  // The same size, and an old time: its inode tells.
  const auto time = fs::last_write_time(tiny() / "model.safetensors");
  fs::rename(other / "model.safetensors", tiny() / "model.safetensors");
  fs::last_write_time(tiny() / "model.safetensors", time);
  const Model second = open(tiny().string());
  EXPECT_NE(second.digest, first.digest);
  EXPECT_NE(second.weights, first.weights);
  EXPECT_TRUE(fs::exists(first.weights));
}

TEST_F(OpenModel, SharesTheWeightsOfEqualFilesElsewhere) {
  const Model first = open(tiny().string());
  fs::copy(tiny(), folder_.path() / "copy");
  EXPECT_EQ(open((folder_.path() / "copy").string()).weights, first.weights);
}

TEST_F(OpenModel, MakesDamagedWeightsInTheCacheAnew) {
  const Model first = open(tiny().string());
  const std::string bytes = read_file(first.weights);
  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  for (const std::string& wrong : {bytes.substr(0, bytes.size() / 2), damaged}) {
    write_file(first.weights, wrong);
    EXPECT_EQ(open(tiny().string()).digest, first.digest);
    EXPECT_EQ(read_file(first.weights), bytes);
  }
  fs::path record = first.weights;
  record.replace_extension(".json");
  for (const std::string wrong : {"", "{}", "{\"sha256\": 3}"}) {
    write_file(record, wrong);
    EXPECT_EQ(open(tiny().string()).digest, first.digest);
  }
}

TEST_F(OpenModel, FollowsConfigWhereTheStoredHeadDiffersAndWarns) {
  const Model before = open(tiny().string());
  EXPECT_THAT(before.warnings, IsEmpty());
  add_output_head();
  for (int time = 0; time < 2; ++time) {  // the second time from the cache
    const Model model = open(tiny().string());
    EXPECT_TRUE(model.config.tied);
    EXPECT_EQ(model.digest, before.digest) << "the same weights are run";
    ASSERT_EQ(model.warnings.size(), 1u);
    EXPECT_THAT(model.warnings[0],
                AllOf(HasSubstr(std::to_string(model.head.differing) + " of 131072 elements"),
                      HasSubstr("config.json ties"), HasSubstr("--output-head stored")));
    EXPECT_GT(model.head.differing, 130000u);
  }
  work_.steps.clear();
  open(tiny().string());
  EXPECT_THAT(work_.steps, IsEmpty());
}

TEST_F(OpenModel, RunsTheHeadThatIsAskedFor) {
  add_output_head();
  ModelOptions options;
  options.head = HeadChoice::kStored;
  const Model stored = open_model(tiny().string(), options, work_);
  EXPECT_FALSE(stored.config.tied);
  EXPECT_TRUE(stored.head_asked);
  ASSERT_EQ(stored.warnings.size(), 1u);
  EXPECT_THAT(stored.warnings[0], HasSubstr("transformers 4 uses the embedding"));
  options.head = HeadChoice::kTied;
  const Model tied = open_model(tiny().string(), options, work_);
  EXPECT_TRUE(tied.config.tied);
  EXPECT_NE(tied.digest, stored.digest);
  EXPECT_EQ(tied.digest, open(tiny().string()).digest);
}

TEST_F(OpenModel, AHeadThatConfigGivesTheModelNeedsNoWarning) {
  add_output_head();
  json config = json::parse(read_file(tiny() / "config.json"));
  config["tie_word_embeddings"] = false;
  write_file(tiny() / "config.json", config.dump());
  const Model model = open(tiny().string());
  EXPECT_FALSE(model.config.tied);
  EXPECT_GT(model.head.differing, 0u);
  EXPECT_THAT(model.warnings, IsEmpty());
  ModelOptions options;
  options.head = HeadChoice::kTied;
  EXPECT_THAT(open_model(tiny().string(), options, work_).warnings,
              ElementsAre(HasSubstr("no release of transformers")));
}

TEST_F(OpenModel, ServesTwoAtOnce) {
  std::string digest;
  std::thread second([&] { digest = open_model(tiny().string(), {}, *silent_).digest; });
  const std::string first = open(tiny().string()).digest;
  second.join();
  EXPECT_EQ(first, digest);
}

TEST_F(OpenModel, ListsTheChoicesWhenThereIsNoSuchModel) {
  expect_refused("gpt3", "gpt3: no such model", "choose auto, mini, gpt2");
  expect_refused("", "no such model", "choose auto, mini, gpt2");
}

TEST_F(OpenModel, SaysWhatAFolderLacks) {
  const std::string name = tiny().string();
  fs::rename(tiny() / "merges.txt", folder_.path() / "merges.txt");
  const Model untold = open(name);
  ASSERT_NE(untold.tokenizer.why_none(), nullptr);
  EXPECT_THAT(untold.tokenizer.why_none()->what(),
              HasSubstr("no tokenizer: merges.txt is missing"));
  EXPECT_EQ(untold.tokenizer.decode({4095}), "[4095]");
  fs::rename(folder_.path() / "merges.txt", tiny() / "merges.txt");
  fs::rename(tiny() / "config.json", folder_.path() / "config.json");
  expect_refused(name, "config.json is missing");
  fs::rename(folder_.path() / "config.json", tiny() / "config.json");
  fs::remove(tiny() / "model.safetensors");
  expect_refused(name, "no model.safetensors");
}

TEST_F(OpenModel, TakesATokenizerWithMoreIds) {
  for (const char* name : {"vocab.json", "merges.txt"}) {
    fs::copy_file(test::gpt2_vocabulary_folder() / name, tiny() / name,
                  fs::copy_options::overwrite_existing);
  }
  const Model model = open(tiny().string());
  EXPECT_EQ(model.tokenizer.encode("a").size(), 1U);
  EXPECT_THROW(model.tokenizer.encode("Hello world"), Error);  // 15496 of 4096
}

TEST_F(OpenModel, WarnsOfWhatTransformersTokenizersDifferOn) {
  EXPECT_THAT(open(tiny().string()).warnings, IsEmpty());
  const std::string merges = read_file(tiny() / "merges.txt");
  write_file(tiny() / "merges.txt", merges.substr(0, merges.size() - 1));
  EXPECT_THAT(open(tiny().string()).warnings,
              ::testing::ElementsAre(HasSubstr("no line feed ends it")));
}

TEST_F(OpenModel, TakesAVocabularyThatIsPaddedALittle) {
  json tokens = json::parse(read_file(tiny() / "vocab.json"));
  tokens.erase("<|endoftext|>");
  std::string last;
  for (const auto& [token, id] : tokens.items()) {
    last = id == 4095 ? token : last;
  }
  const std::string kept = read_file(tiny() / "merges.txt");
  const std::size_t end = kept.rfind('\n', kept.size() - 2);  // the merge that makes the last token
  tokens.erase(last);
  write_file(tiny() / "vocab.json", tokens.dump());
  write_file(tiny() / "merges.txt", kept.substr(0, end + 1));
  const Model model = open(tiny().string());
  EXPECT_EQ(model.tokenizer.size(), 4096u);
  EXPECT_EQ(model.tokenizer.token_bytes(4095), "");
  json few;
  for (const auto& [token, id] : tokens.items()) {
    if (id < 257) {
      few[token] = id;
    }
  }
  write_file(tiny() / "vocab.json", few.dump());
  write_file(tiny() / "merges.txt", "");
  const Model other = open(tiny().string());
  ASSERT_NE(other.tokenizer.why_none(), nullptr);
  EXPECT_THAT(other.tokenizer.why_none()->what(), HasSubstr("the tokenizer has 257 ids"));
}

class OpenModelFromHub : public OpenModel {
 protected:
  void SetUp() override {
    const auto python3 = test::find_python3();
    if (!python3) {
      GTEST_SKIP() << "no python3 of at least 3.8 in PATH to run a hub on the loopback";
    }
    OpenModel::SetUp();
    hub_ = std::make_unique<test::TestHub>(*python3);
    HubModel& gpt2 = options_.gpt2;
    gpt2.weights = {entry("model.safetensors")};
    gpt2.files = {entry("config.json"), entry("vocab.json"), entry("merges.txt")};
  }

  HubFile entry(const std::string& name) {
    const std::string bytes = read_file(tiny() / name);
    hub_->offer(options_.gpt2, name, bytes);
    return test::hub_file(name, bytes);
  }
  Model open_auto() { return open_model("auto", options_, work_); }

  std::unique_ptr<test::TestHub> hub_;
  ModelOptions options_;
};

TEST_F(OpenModelFromHub, FetchesGpt2OnceAndThenFindsItInTheCache) {
  const Model fetched = open_model("gpt2", options_, work_);
  EXPECT_EQ(fetched.name, "gpt2");
  EXPECT_EQ(fetched.why, "fetched from the hub");
  EXPECT_EQ(fetched.config.n_layer, 2u);
  hub_->stop();
  EXPECT_EQ(open_model("gpt2", options_, work_).why, "cached");
  work_.steps.clear();
  const Model again = open_auto();
  EXPECT_EQ(again.name, "gpt2");
  EXPECT_EQ(again.why, "cached");
  EXPECT_EQ(again.digest, fetched.digest);
  EXPECT_THAT(work_.steps, IsEmpty());
}

TEST_F(OpenModelFromHub, TakesGpt2AutomaticallyWhenTheHubAnswers) {
  const Model model = open_auto();
  EXPECT_EQ(model.name, "gpt2");
  EXPECT_EQ(model.why, "fetched from the hub");
}

TEST_F(OpenModelFromHub, TakesMiniWhenTheHubIsOutOfReachAndSaysWhy) {
  hub_->stop();
  const auto start = std::chrono::steady_clock::now();
  const Model model = open_auto();
  EXPECT_EQ(model.name, "mini");
  EXPECT_THAT(model.why, StartsWith("gpt2 isn't cached, and the hub is out of reach: "));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_THROW(open_model("gpt2", options_, work_), Error);
}

TEST_F(OpenModelFromHub, TakesMiniOfflineUnlessGpt2IsCached) {
  options_.offline = true;
  EXPECT_EQ(open_auto().why, "gpt2 isn't cached, and --offline is set");
  options_.offline = false;
  {
    const test::ScopedEnvironment off("HF_HUB_OFFLINE", "1");
    EXPECT_EQ(open_auto().why, "gpt2 isn't cached, and HF_HUB_OFFLINE is set");
  }
  EXPECT_THAT(hub_->requests(), IsEmpty());
  fetch_gpt2(options_, work_);
  options_.offline = true;
  EXPECT_EQ(open_auto().name, "gpt2");
}

}  // namespace
}  // namespace drift
