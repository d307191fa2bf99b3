#include "driftaudit/candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Pin pin_of(const std::string& version, const std::string& name = "") {
  Pin pin;
  pin.version = version;
  pin.name = name;
  pin.released = "2022-01-01";
  pin.wheel.sha256 = "hash of " + version;
  return pin;
}

class Candidates : public ::testing::Test {
 protected:
  const std::vector<Pin> pins_ = {pin_of("1.9.0"), pin_of("1.10.1", "january"), pin_of("1.11.0"),
                                  pin_of("1.12.0"), pin_of("1.13.1", "december")};
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-candidates"};
  fs::path list_ = folder_.path() / "list.txt";

  std::vector<Candidate> releases(const std::string& first, const std::string& last) const {
    return release_candidates(pins_, first, last);
  }
  std::vector<Candidate> listed(const std::string& text, const std::string& first = "",
                                const std::string& last = "") const {
    write_file(list_, text);
    return listed_candidates(list_, pins_, first, last);
  }
  std::string in_folder(const std::string& name) const { return (folder_.path() / name).string(); }
  /// The error of `act` as `what | hint`.
  template <class Act>
  static std::string refusal(const Act& act) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      return std::string(error.what()) + " | " + error.hint();
    }
    return "accepted";
  }
};

std::vector<std::string> labels(const std::vector<Candidate>& candidates) {
  std::vector<std::string> labels;
  for (const Candidate& candidate : candidates) {
    labels.push_back(candidate.label);
  }
  return labels;
}

TEST_F(Candidates, AreTheReleasesOfARangeByVersion) {
  const std::vector<Candidate> candidates = releases("1.10.1", "1.12.0");
  EXPECT_THAT(labels(candidates), ElementsAre("1.10.1", "1.11.0", "1.12.0"));
  EXPECT_EQ(candidates[0].released, "2022-01-01");
  EXPECT_THAT(candidates[0].identity, HasSubstr("hash of 1.10.1"));
}

TEST_F(Candidates, AreNamedByPinsNamesToo) {
  EXPECT_THAT(labels(releases("january", "december")),
              ElementsAre("1.10.1", "1.11.0", "1.12.0", "1.13.1"));
}

TEST_F(Candidates, OfARangeThatEndsBeforeItBeginsAreRefusedWithTheOtherOrder) {
  EXPECT_THAT(refusal([&] { releases("1.11.0", "1.9.0"); }),
              HasSubstr("later release than 1.9.0 | driftaudit bisect 1.9.0 1.11.0"));
  EXPECT_THAT(refusal([&] { releases("january", "1.10.1"); }), HasSubstr("the same release"));
}

TEST_F(Candidates, OfUnknownReleasesAreRefused) {
  EXPECT_THAT(refusal([&] { releases("1.10.1", "1.12.7"); }), HasSubstr("1.12.7: unknown release"));
  EXPECT_THAT(refusal([&] { releases(folder_.path().string(), "1.12.0"); }), HasSubstr("--builds"));
}

TEST_F(Candidates, OfAListStandInItsOrderRelativeToIt) {
  const std::vector<Candidate> candidates =
      listed("# my builds\r\n\n  one\r\nsub/two \n/three\ndecember\n~/four");
  EXPECT_THAT(labels(candidates),
              ElementsAre(in_folder("one"), in_folder("sub/two"), "/three", "december", "~/four"));
  EXPECT_EQ(candidates[0].side, in_folder("one"));
  EXPECT_EQ(candidates[1].side, in_folder("sub/two"));
  EXPECT_EQ(candidates[2].side, "/three");
  EXPECT_EQ(candidates[3].side, "1.13.1");
  EXPECT_EQ(candidates[4].side, "~/four");
  EXPECT_EQ(candidates[0].identity, "");
  EXPECT_NE(candidates[3].identity, "");
}

TEST_F(Candidates, OfAListGoFromFirstToLast) {
  const std::string text = "a\nb\nc\n1.12.0\n";
  EXPECT_THAT(labels(listed(text, "b", "c")), ElementsAre(in_folder("b"), in_folder("c")));
  EXPECT_THAT(labels(listed(text, "b")), ElementsAre(in_folder("b"), in_folder("c"), "1.12.0"));
  EXPECT_THAT(labels(listed(text, "", in_folder("b"))), ElementsAre(in_folder("a"), in_folder("b")))
      << "by its path";
}

TEST_F(Candidates, OfAListAreNamedAsACommandWouldBe) {
  write_file(list_, "one\n../two\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path().parent_path());
  const std::vector<Candidate> candidates =
      listed_candidates(folder_.path().filename() / "list.txt", pins_, "", "../two");
  fs::current_path(before);
  EXPECT_THAT(labels(candidates), ElementsAre((folder_.path().filename() / "one").string(), "two"));
  EXPECT_EQ(candidates[0].side, in_folder("one"));
}

TEST_F(Candidates, OfABadListAreRefusedWithItsLine) {
  const std::string at = list_.string();
  EXPECT_THAT(refusal([&] { listed("a\n\nb\n./a\n"); }),
              HasSubstr(at + ":4: ./a stands in line 1 already"));
  EXPECT_THAT(refusal([&] { listed("# nothing\n\n"); }), HasSubstr(at + ":2: no build"));
  EXPECT_THAT(refusal([&] { listed("a\n"); }), HasSubstr(at + ":1: one build"));
  EXPECT_THAT(refusal([&] { listed("a\nb\n", "c"); }), HasSubstr("c: not in the list"));
  EXPECT_THAT(refusal([&] { listed("a\nb\nc\n", "c", "b"); }),
              HasSubstr(at + ":3: c doesn't come before b (line 2)"));
  EXPECT_THAT(refusal([&] { listed("a\nb\n", "b"); }), HasSubstr("doesn't come before b"));
  EXPECT_THAT(refusal([&] { listed(std::string("a\nb\0c\nd", 7)); }),
              HasSubstr(at + ":2: not text"));
  EXPECT_THAT(refusal([&] { listed_candidates("/missing", pins_, "", ""); }),
              HasSubstr("/missing"));
}

}  // namespace
}  // namespace drift
