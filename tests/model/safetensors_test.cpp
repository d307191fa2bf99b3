#include "model/safetensors.hpp"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"
#include "test_data.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Safetensors : public ::testing::Test {
 protected:
  void write(const std::string& header, const std::string& data) {
    write_with_length(header.size(), header + data);
  }
  void write_with_length(std::uint64_t length, const std::string& rest) {
    write_file(file_, std::string(reinterpret_cast<const char*>(&length), sizeof length) + rest);
  }
  std::string error(const std::string& header, const std::string& data) {
    write(header, data);
    return error();
  }
  std::string error() {
    return test::usage_error_of([&] { read_safetensors(file_); });
  }

  TemporaryFolder folder_ = test::scratch_folder();
  fs::path file_ = folder_.path() / "model.safetensors";
};

TEST_F(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  write(R"({"__metadata__":{"format":"pt"},)"
        R"("b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},)"
        R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}   )",
        test::bytes_of<float>({2.5F}) + test::bytes_of<std::uint16_t>({0x3C00, 0xC000}));
  const auto tensors = read_safetensors(file_);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_TRUE(tensors[0].shape.empty());
  EXPECT_EQ(test::elements_of(tensors[0]), std::vector<float>{2.5F});
  EXPECT_EQ(tensors[1].name, "b");
  EXPECT_EQ(test::elements_of(tensors[1]), (std::vector<float>{1.0F, -2.0F}));
}

TEST_F(Safetensors, ReadsEmptyTensorsAndBooleans) {
  write(R"({"none":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)"
        R"("mask":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})",
        std::string(3, '\1'));
  const auto tensors = read_safetensors(file_);
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].elements(), 0U);
  EXPECT_EQ(tensors[1].dtype, Dtype::kBool);
}

TEST_F(Safetensors, RefusesAHeaderLengthBeyondTheFile) {
  write_with_length(1000, "{}");
  EXPECT_THAT(error(), AllOf(HasSubstr("model.safetensors"), HasSubstr("1000 bytes"),
                             HasSubstr("2 are left")));
}

TEST_F(Safetensors, RefusesAHugeHeaderLengthWithoutTakingMemory) {
  write_with_length(~std::uint64_t{0} - 7, "{}");
  EXPECT_THAT(error(), HasSubstr("18446744073709551608"));
}

TEST_F(Safetensors, RefusesAHeaderThatIsNotAnObject) {
  EXPECT_THAT(error("{\"a\":", ""), HasSubstr("not JSON at byte"));
  EXPECT_THAT(error("[]", ""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error("", ""), HasSubstr("not JSON"));
}

TEST_F(Safetensors, RefusesATensorThatIsThereTwice) {
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                    R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                    "xx"),
              AllOf(HasSubstr("\"a\""), HasSubstr("twice")));
}

TEST_F(Safetensors, RefusesAShapeThatIsNotItsDatasSize) {
  EXPECT_THAT(error(R"({"w":{"dtype":"F32","shape":[768,2],"data_offsets":[0,8]}})", "12345678"),
              HasSubstr("tensor \"w\" has shape [768, 2] in the header but 8 bytes of data"));
}

TEST_F(Safetensors, RefusesAnElementCountThatOverflows) {
  // 2^62 × 4 bytes and 2^33 × 2^33 elements are 0 modulo 2^64.
  EXPECT_THAT(
      error(R"({"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", ""),
      HasSubstr("more than can be counted"));
  EXPECT_THAT(
      error(R"({"w":{"dtype":"F32","shape":[8589934592,8589934592],"data_offsets":[0,0]}})", ""),
      HasSubstr("more than can be counted"));
  EXPECT_THAT(
      error(R"({"w":{"dtype":"F32","shape":[0,8589934592,8589934592],"data_offsets":[0,0]}})", ""),
      HasSubstr("more than can be counted"));
}

TEST_F(Safetensors, RefusesTensorsThatOverlap) {
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                    R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                    "1234"),
              HasSubstr("tensor \"b\" overlaps \"a\""));
}

TEST_F(Safetensors, RefusesBytesOfNoTensor) {
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "12"),
              HasSubstr("1 bytes before it belong to no tensor"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "123"),
              HasSubstr("last 2 bytes belong to no tensor"));
}

TEST_F(Safetensors, RefusesATruncatedFileNamingTheTensor) {
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "123"),
              HasSubstr("tensor \"a\" ends at byte 4 of the data, but there are only 3"));
}

TEST_F(Safetensors, RefusesMalformedEntries) {
  EXPECT_THAT(error(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "1"),
              HasSubstr("F8_E4M3"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", "1"),
              HasSubstr("\"shape\""));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", "1"),
              HasSubstr("\"shape\""));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", "1"),
              HasSubstr("data_offsets"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1],"offsets":[0,1]}})", "1"),
              HasSubstr("data_offsets"));
  EXPECT_THAT(error(R"({"a":{"dtype":"U8","shape":[1]}})", "1"), HasSubstr("data_offsets"));
  EXPECT_THAT(error(R"({"a":7})", "1"), HasSubstr("\"a\""));
}

TEST_F(Safetensors, QuotesNamesWithoutTheirControlCharacters) {
  EXPECT_THAT(error("{\"a\\u001b[2J\\n\":7}", ""), HasSubstr("\"a?[2J?\""));
}

TEST_F(Safetensors, NoTruncationOfAGoodFileReads) {
  const ModelConfig config = test::small_config();
  test::write_checkpoint(write_safetensors, file_, test::gpt2_tensors(config));
  const std::string whole = read_file(file_);
  for (std::size_t size = 0; size < whole.size(); size += size < 300 ? 1 : 97) {
    test::write_quickly(file_, whole.substr(0, size));
    error();
  }
}

}  // namespace
}  // namespace drift
