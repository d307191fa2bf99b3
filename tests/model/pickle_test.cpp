#include "model/pickle.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"
#include "model/pickle_writer.hpp"

namespace drift::pickle {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

Result run(const std::string& bytes) {
  Rules rules;
  return unpickle(std::as_bytes(std::span(bytes)), 0, "file", rules);
}

std::string error(const std::string& bytes) {
  return test::usage_error_of([&] { run(bytes); });
}

std::int64_t integer(const std::string& bytes) {
  const Result result = run(bytes);
  EXPECT_EQ(result.value().kind, Kind::kInt);
  return result.value().number;
}

std::string text(const std::string& bytes) {
  const Result result = run(bytes);
  EXPECT_EQ(result.value().kind, Kind::kText);
  return result.value().text;
}

// The pickles below are what Python's pickle module writes, some opcodes by older versions of it.

TEST(Pickle, ReadsIntegersOfEveryProtocol) {
  EXPECT_EQ(integer("I-42\n."), -42);
  EXPECT_EQ(integer("L1234567890123L\n."), 1234567890123);
  EXPECT_EQ(integer("\x80\x02K\xff."), 255);
  EXPECT_EQ(integer("\x80\x02M\x01\xff."), 0xff01);
  EXPECT_EQ(integer("\x80\x02J\xff\xff\xff\xff."), -1);
  EXPECT_EQ(integer("\x80\x02\x8a\x00."s), 0);
  EXPECT_EQ(integer("\x80\x02\x8a\x05\x00\x00\x00\x00\x80."s), -549755813888);
  EXPECT_EQ(integer("\x80\x02\x8b\x02\x00\x00\x00\xe9\x03."s), 1001);
  EXPECT_EQ(run("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s).value().kind,
            Kind::kBigInt);
  EXPECT_EQ(run("L119547037146038801333356L\n.").value().text, "119547037146038801333356");
}

TEST(Pickle, ReadsBooleansAndNone) {
  EXPECT_EQ(run("I01\n.").value().kind, Kind::kBool);
  EXPECT_EQ(run("I01\n.").value().number, 1);
  EXPECT_EQ(run("\x80\x02\x89.").value().number, 0);
  EXPECT_EQ(run("N.").value().kind, Kind::kNone);
}

TEST(Pickle, ReadsTextsOfEveryProtocol) {
  EXPECT_EQ(text("S'wte'\np0\n."), "wte");
  EXPECT_EQ(text("Vwte\np0\n."), "wte");
  EXPECT_EQ(text("U\x03wteq\x00."s), "wte");
  EXPECT_EQ(text("X\x03\x00\x00\x00wteq\x00."s), "wte");
  EXPECT_EQ(text("\x80\x04\x95\x07\x00\x00\x00\x00\x00\x00\x00\x8c\x03wte\x94."s), "wte");
  EXPECT_EQ(text("\x80\x04\x8d\x03\x00\x00\x00\x00\x00\x00\x00wte."s), "wte");
}

TEST(Pickle, ReadsTuplesListsAndDicts) {
  EXPECT_EQ(run("(I1\nI2\nt.").value().items.size(), 2U);
  EXPECT_EQ(run("\x80\x02K\x01K\x02K\x03\x87.").value().items.size(), 3U);
  EXPECT_EQ(run("(lp0\nI1\naI2\na.").value().items.size(), 2U);
  const Result dict = run("\x80\x02}q\x00(X\x01\x00\x00\x00xK\x01X\x01\x00\x00\x00yh\x00u."s);
  ASSERT_EQ(dict.value().kind, Kind::kDict);
  ASSERT_EQ(dict.value().items.size(), 4U);
  EXPECT_EQ(dict.values[dict.value().items[0]].text, "x");
  EXPECT_EQ(dict.value().items[3], dict.root) << "recalled from the memo: the dict itself";
}

TEST(Pickle, EndsAtItsStopWhateverFollows) { EXPECT_EQ(run("K\x01.more").end, 3U); }

TEST(Pickle, RefusesGlobalsByNameAndByte) {
  EXPECT_THAT(error("cos\nsystem\n(S'echo hi'\ntR."),
              HasSubstr("file: byte 0: the pickle asks for \"os.system\", which is no part of a "
                        "state dict"));
  EXPECT_THAT(error("\x80\x04\x8c\x08"
                    "builtins\x8c\x04"
                    "eval\x93."),
              AllOf(HasSubstr("byte 18"), HasSubstr("\"builtins.eval\"")));
}

TEST(Pickle, RefusesOpcodesThatNoStateDictNeedsByTheirNames) {
  EXPECT_THAT(error("(ios\nsystem\n."), AllOf(HasSubstr("byte 1:"), HasSubstr("INST")));
  EXPECT_THAT(error("\x80\x02)\x81."), HasSubstr("NEWOBJ"));
  EXPECT_THAT(error("\x80\x02\x82\x01."), HasSubstr("EXT1"));
  EXPECT_THAT(error("\x80\x05\x97."), HasSubstr("NEXT_BUFFER"));
  EXPECT_THAT(error("P0\n."), HasSubstr("PERSID"));
  EXPECT_THAT(error("\xff."), HasSubstr("0xff is no opcode"));
  EXPECT_THAT(error("\x80\x06N."), HasSubstr("protocol 6"));
}

TEST(Pickle, RefusesCallsAndPersistentIdsWherePlainValuesMayBe) {
  EXPECT_THAT(error("N)R."), HasSubstr("calls"));
  EXPECT_THAT(error("N)b."), HasSubstr("isn't a dict"));
  EXPECT_THAT(error("NQ."), HasSubstr("storage"));
}

TEST(Pickle, RefusesMisuseOfStackMarksAndMemo) {
  for (const char* bad : {".", "a.", "I1\na.", "t.", "(.", "(K\x01K\x02\x87.", "h\x05.", "q\x01.",
                          "}K\x01s.", "}(K\x01u.", "Nu.", "K\x01]s.", "g-1\n.",
                          "p99999999999999999999\n.", "Ix\n.", "S'a\n.", "L\n."}) {
    error(bad);
  }
}

TEST(Pickle, ATruncatedPickleIsAnErrorWhereverItEnds) {
  const std::string whole =
      Writer().mark().text("name").integer(70000).empty_dict().tuple().finish();
  ASSERT_EQ(run(whole).end, whole.size());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error(whole.substr(0, size)), HasSubstr("file: byte")) << size;
  }
}

TEST(Pickle, LengthsThatLieTakeNoMemory) {
  EXPECT_THAT(error("X\xff\xff\xff\xff."), HasSubstr("too long"));
  EXPECT_THAT(error("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), HasSubstr("too long"));
  EXPECT_THAT(error("\x8b\xff\xff\xff\x7f."), HasSubstr("too long"));
  EXPECT_THAT(error("X\xff\x00\x00\x00."s), HasSubstr("ends in the middle"));
}

TEST(Pickle, NumbersOfValuesItemsAndMarksAreBounded) {
  EXPECT_THAT(error(std::string(1100000, 'N')), HasSubstr("too many"));
  EXPECT_THAT(error(std::string(1100000, '(')), HasSubstr("too many"));
  std::string deep = "N";  // a million tuples, one in the other
  deep.append(1000000, '\x85');
  EXPECT_EQ(run(deep + ".").value().kind, Kind::kTuple);
  std::string wide = "Nq" + std::string(1, '\0') + "]";  // the same lists again and again
  for (int list = 0; list < 10; ++list) {
    wide += '(';
    for (int i = 0; i < 500000; ++i) {
      wide += "h"s + '\0';
    }
    wide += 'e';
  }
  EXPECT_THAT(error(wide + "."), HasSubstr("too many"));
}

}  // namespace
}  // namespace drift::pickle
