#include "driftaudit/hub.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "model/test_hub.hpp"
#include "shared/python.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Keeps the lines that it is told.
class Notes final : public Progress {
 public:
  void start(std::string_view, std::uint64_t total, Unit) override { total_ = total; }
  void update(std::uint64_t done) override {
    went_backwards_ |= done > total_ && total_ > 0;
    last_ = done;
  }
  void finish() override {}
  void note(std::string_view line) override { lines.emplace_back(line); }

  bool went_beyond() const { return went_backwards_; }
  std::vector<std::string> lines;

 private:
  std::uint64_t total_ = 0;
  std::uint64_t last_ = 0;
  bool went_backwards_ = false;
};

std::string many_bytes(std::size_t count) {
  std::string bytes;
  std::uint32_t state = 1;
  while (bytes.size() < count) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24));
  }
  return bytes;
}

class Hub : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto python3 = test::find_python3();
    if (!python3) {
      GTEST_SKIP() << "no python3 of at least 3.8 in PATH to run a hub on the loopback";
    }
    hub_ = std::make_unique<test::TestHub>(*python3);
    model_.name = "small";
    model_.repository = "someone/small";
    model_.old_repositories = {"small"};
    model_.revision = "0123abcd";
    model_.weights = {test::hub_file("model.safetensors", weights_),
                      test::hub_file("pytorch_model.bin", pickle_)};
    model_.files = {test::hub_file("config.json", "{}"), test::hub_file("vocab.json", "[1]")};
    model_.files[0].bytes = 0;
    offer("config.json", "{}");
    offer("vocab.json", "[1]");
    offer("model.safetensors", weights_);
    offer("pytorch_model.bin", pickle_);
  }

  void offer(const std::string& name, const std::string& bytes) {
    hub_->offer(model_, name, bytes);
  }
  fs::path folder() const { return hub_->cache() / "models/small/0123abcd"; }
  void leave_part(const std::string& name, const std::string& bytes) {
    make_folders(folder());
    write_file(folder() / (name + ".part"), bytes);
  }
  fs::path fetch() { return fetch_hub_model(model_, false, notes_); }
  std::string fetched(const std::string& name) { return read_file(fetch() / name); }

  void expect_trouble(const std::vector<std::string>& words) {
    try {
      fetch();
      FAIL() << "fetched";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kTrouble);
      for (const std::string& word : words) {
        EXPECT_THAT(error.what(), HasSubstr(word));
      }
      EXPECT_NE(error.hint(), "");
    }
    EXPECT_FALSE(fs::exists(folder() / "model.safetensors"));
  }

  /// Puts the model into Hugging Face's cache as its library does: blobs, and links to them.
  fs::path cache_as_hugging_face(const std::string& repository) {
    const fs::path base = hub_->hugging_face_home() / "hub" / repository;
    const fs::path snapshot = base / "snapshots/0123abcd";
    fs::create_directories(snapshot);
    fs::create_directories(base / "blobs");
    const auto add = [&](const std::string& name, const std::string& bytes) {
      write_file(base / "blobs" / ("of-" + name), bytes);
      fs::create_symlink("../../blobs/of-" + name, snapshot / name);
    };
    add("config.json", "{}");
    add("vocab.json", "[1]");
    add("pytorch_model.bin", pickle_);
    return snapshot;
  }

  const std::string weights_ = many_bytes(300'000);
  const std::string pickle_ = many_bytes(1000);
  std::unique_ptr<test::TestHub> hub_;
  HubModel model_;
  Notes notes_;
};

TEST_F(Hub, FetchesAllFilesOnce) {
  EXPECT_EQ(fetch(), folder());
  EXPECT_EQ(read_file(folder() / "model.safetensors"), weights_);
  EXPECT_EQ(read_file(folder() / "config.json"), "{}");
  EXPECT_THAT(hub_->requests(),
              ElementsAre("GET config.json -", "GET vocab.json -", "GET model.safetensors -"));
  hub_->stop();
  EXPECT_EQ(fetch(), folder());
  EXPECT_FALSE(notes_.went_beyond());
  for (const auto& entry : fs::directory_iterator(folder())) {
    EXPECT_NE(entry.path().extension(), ".part");
  }
}

TEST_F(Hub, TakesTheSecondWeightsWhenTheFirstAreNotOffered) {
  hub_->behave(R"({"status": {"model.safetensors": 404}})");
  EXPECT_EQ(fetched("pytorch_model.bin"), pickle_);
  EXPECT_FALSE(fs::exists(folder() / "model.safetensors"));
}

TEST_F(Hub, ResumesWhatAnEarlierRunLeft) {
  leave_part("model.safetensors", weights_.substr(0, 200'000));
  EXPECT_EQ(fetched("model.safetensors"), weights_);
  EXPECT_THAT(hub_->requests(), Contains("GET model.safetensors bytes=200000-"));
}

TEST_F(Hub, ResumesWhenTheConnectionBreaks) {
  hub_->behave(R"({"cut_after": 130000})");
  EXPECT_EQ(fetched("model.safetensors"), weights_);
  EXPECT_THAT(hub_->requests(), Contains("GET model.safetensors bytes=130000-"));
  EXPECT_THAT(hub_->requests(), Contains("GET model.safetensors bytes=260000-"));
}

TEST_F(Hub, StartsAnewWhenTheServerIgnoresRanges) {
  leave_part("model.safetensors", weights_.substr(0, 200'000));
  hub_->behave(R"({"no_ranges": true})");
  EXPECT_EQ(fetched("model.safetensors"), weights_);
}

TEST_F(Hub, StartsAnewWhenWhatIsThereIsNoPartOfTheFile) {
  leave_part("model.safetensors", "something else");
  leave_part("config.json", "longer than the config");
  leave_part("vocab.json", "longer than the vocabulary");
  EXPECT_EQ(fetched("model.safetensors"), weights_);
  EXPECT_EQ(read_file(folder() / "config.json"), "{}");
  EXPECT_EQ(read_file(folder() / "vocab.json"), "[1]");
}

TEST_F(Hub, VerifiesAPartThatIsWhole) {
  leave_part("model.safetensors", weights_);
  EXPECT_EQ(fetched("model.safetensors"), weights_);
  EXPECT_THAT(hub_->requests(), Not(Contains(HasSubstr("model.safetensors"))));
}

TEST_F(Hub, FollowsRedirects) {
  hub_->behave(R"({"redirect": true})");
  leave_part("model.safetensors", weights_.substr(0, 1000));
  EXPECT_EQ(fetched("model.safetensors"), weights_);
}

TEST_F(Hub, ReplacesAFileThatWasDamagedInTheCache) {
  fetch();
  fs::remove(folder() / "model.safetensors");
  write_file(folder() / "model.safetensors", std::string(weights_.size(), 'x'));
  EXPECT_EQ(fetched("model.safetensors"), weights_);
  EXPECT_THAT(notes_.lines, Contains(HasSubstr("not the pinned file")));
}

TEST_F(Hub, RefusesWhatHasAnotherHash) {
  std::string other = weights_;
  other[5] ^= 1;
  offer("model.safetensors", other);
  expect_trouble({"http://127.0.0.1", "model.safetensors", "sha256 is", "is pinned"});
  EXPECT_FALSE(fs::exists(folder() / "model.safetensors.part"));
  offer("model.safetensors", weights_);
  EXPECT_EQ(fetched("model.safetensors"), weights_);
}

TEST_F(Hub, RefusesAnAnswerThatIsTooLong) {
  hub_->behave(R"({"endless": true})");
  model_.files.clear();
  expect_trouble({"model.safetensors: the answer is longer"});
}

TEST_F(Hub, RefusesAnotherRangeThanAskedFor) {
  leave_part("model.safetensors", weights_.substr(0, 1000));
  hub_->behave(R"({"wrong_range": true})");
  expect_trouble({"model.safetensors: the server sent another range"});
}

TEST_F(Hub, TellsTheHttpStatus) {
  hub_->behave(R"({"status": {"vocab.json": 403}})");
  expect_trouble({"vocab.json: HTTP 403"});
  hub_->behave(R"({"status": {"vocab.json": 404}})");
  expect_trouble({"vocab.json: HTTP 404"});
  hub_->behave(R"({"status": {"model.safetensors": 404, "pytorch_model.bin": 404}})");
  expect_trouble({"model.safetensors: HTTP 404"});
}

TEST_F(Hub, TriesAgainWhenTheServerIsInTrouble) {
  hub_->behave(R"({"status": {"vocab.json": 503}})");
  expect_trouble({"vocab.json: HTTP 503"});
  const auto requests = hub_->requests();
  EXPECT_GT(std::count(requests.begin(), requests.end(), "GET vocab.json -"), 1);
}

TEST_F(Hub, TellsThatThereIsNoNetwork) {
  hub_->stop();
  expect_trouble({"http://127.0.0.1", "config.json", "connect"});
}

TEST_F(Hub, ChecksTheDiskFirst) {
  model_.weights[0].bytes = std::uint64_t{1} << 60;
  expect_trouble({"small needs", "are free"});
  EXPECT_THAT(hub_->requests(), IsEmpty());
}

TEST_F(Hub, IsNotAskedOffline) {
  EXPECT_THROW(fetch_hub_model(model_, true, notes_), Error);
  for (const char* yes : {"1", "true", "ON"}) {
    const test::ScopedEnvironment off("HF_HUB_OFFLINE", yes);
    EXPECT_TRUE(hub_is_off());
    expect_trouble({"small isn't in the cache", "HF_HUB_OFFLINE"});
  }
  const test::ScopedEnvironment on("HF_HUB_OFFLINE", "0");
  EXPECT_FALSE(hub_is_off());
  EXPECT_THAT(hub_->requests(), IsEmpty());
  fetch();
  EXPECT_EQ(fetch_hub_model(model_, true, notes_), folder());
}

TEST_F(Hub, LooksIntoHuggingFacesCacheFirst) {
  const fs::path snapshot = cache_as_hugging_face("models--someone--small");
  EXPECT_EQ(fetch(), snapshot);
  EXPECT_THAT(hub_->requests(), IsEmpty());
}

TEST_F(Hub, LooksIntoHuggingFacesCacheUnderTheOldName) {
  const fs::path snapshot = cache_as_hugging_face("models--small");
  EXPECT_EQ(find_hub_model(model_, notes_), snapshot);
}

TEST_F(Hub, LooksIntoHuggingFacesDefaultCache) {
  const fs::path snapshot = cache_as_hugging_face("models--someone--small");
  fs::create_directories(hub_->cache() / ".cache");
  fs::create_directory_symlink(hub_->hugging_face_home(), hub_->cache() / ".cache/huggingface");
  const test::ScopedEnvironment none("HF_HOME", "");
  const test::ScopedEnvironment xdg("XDG_CACHE_HOME", "");
  const test::ScopedEnvironment home("HOME", hub_->cache().string());
  const auto found = find_hub_model(model_, notes_);
  ASSERT_TRUE(found);
  EXPECT_TRUE(fs::equivalent(*found, snapshot));
}

TEST_F(Hub, LeavesAsideACacheThatLacksAFileOrHasAnother) {
  const fs::path snapshot = cache_as_hugging_face("models--someone--small");
  write_file(snapshot / "pytorch_model.bin", std::string(pickle_.size(), 'x'));
  EXPECT_EQ(find_hub_model(model_, notes_), std::nullopt);
  EXPECT_THAT(notes_.lines, Contains(HasSubstr("pytorch_model.bin: not the pinned file")));
  fs::remove(snapshot / "vocab.json");
  EXPECT_EQ(fetch(), folder());
}

TEST_F(Hub, ServesTwoAtOnce) {
  fs::path other;
  std::thread second([&] {
    Notes notes;
    other = fetch_hub_model(model_, false, notes);
  });
  EXPECT_EQ(fetch(), folder());
  second.join();
  EXPECT_EQ(other, folder());
  const auto requests = hub_->requests();
  EXPECT_EQ(std::count(requests.begin(), requests.end(), "GET model.safetensors -"), 1);
}

TEST_F(Hub, SaysWithinSecondsWhetherItIsInReach) {
  EXPECT_EQ(hub_out_of_reach(model_), std::nullopt);
  EXPECT_THAT(hub_->requests(), ElementsAre("HEAD config.json -"));
  hub_->behave(R"({"status": {"config.json": 401}})");
  EXPECT_EQ(hub_out_of_reach(model_), "HTTP 401");
  hub_->stop();
  EXPECT_NE(hub_out_of_reach(model_), std::nullopt);
  // Addresses set aside for documentation: nobody answers, and the answer isn't "refused" either.
  const test::ScopedEnvironment nowhere("HF_ENDPOINT", "http://192.0.2.1");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(hub_out_of_reach(model_), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Gpt2OnHub, IsPinned) {
  const HubModel gpt2 = gpt2_on_hub();
  EXPECT_EQ(gpt2.repository, "openai-community/gpt2");
  EXPECT_EQ(gpt2.weights.at(0).bytes, 548105171u);
  EXPECT_EQ(gpt2.weights.at(1).bytes, 548118077u);
  for (const auto* list : {&gpt2.weights, &gpt2.files}) {
    for (const HubFile& file : *list) {
      EXPECT_EQ(file.sha256.size(), 64u) << file.name;
    }
  }
  // The vocabulary in this repository is the same one.
  Notes notes;
  for (const HubFile& file : gpt2.files) {
    const fs::path here = test::gpt2_vocabulary_folder() / file.name;
    if (fs::exists(here)) {
      EXPECT_EQ(test::hub_file(file.name, read_file(here)).sha256, file.sha256);
      EXPECT_EQ(fs::file_size(here), file.bytes);
    }
  }
}

}  // namespace
}  // namespace drift
