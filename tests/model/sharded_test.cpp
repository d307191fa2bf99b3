#include "model/sharded.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"
#include "test_data.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Sharded : public ::testing::Test {
 protected:
  /// A shard with one tensor of one element.
  void shard(const std::string& file, const std::string& tensor, float value,
             test::WriteCheckpoint write = write_safetensors) {
    test::write_checkpoint(
        write, folder_.path() / file,
        {{{tensor, Dtype::kFloat32, {1}}, test::bytes_of(std::vector<float>{value})}});
  }
  std::string error(const std::string& weight_map) {
    write_file(index_, "{\"metadata\":{},\"weight_map\":" + weight_map + "}");
    return test::usage_error_of([&] { read_sharded(index_); });
  }

  TemporaryFolder folder_ = test::scratch_folder();
  fs::path index_ = folder_.path() / "model.safetensors.index.json";
};

TEST_F(Sharded, ReadsTheTensorsOfAllShardsInEitherFormat) {
  shard("1.safetensors", "a", 1.0F);
  shard("2.bin", "b", 2.0F, write_torch_zip);
  write_file(index_, R"({"weight_map":{"a":"1.safetensors","b":"2.bin"}})");
  const auto tensors = open_checkpoint(folder_.path());
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(test::elements_of(tensors[0]), std::vector<float>{1.0F});
  EXPECT_EQ(test::elements_of(tensors[1]), std::vector<float>{2.0F});
}

TEST_F(Sharded, RefusesAMissingShardByItsName) {
  EXPECT_THAT(error(R"({"a":"1.safetensors"})"), HasSubstr("\"1.safetensors\" isn't there"));
}

TEST_F(Sharded, RefusesATensorInAnotherShardThanSaid) {
  shard("1.safetensors", "a", 1.0F);
  shard("2.safetensors", "b", 2.0F);
  EXPECT_THAT(error(R"({"a":"2.safetensors","b":"1.safetensors"})"),
              AllOf(HasSubstr("\"a\""), HasSubstr("not listed for this shard")));
  EXPECT_THAT(error(R"({"a":"1.safetensors","c":"1.safetensors"})"),
              HasSubstr("tensor \"c\" is not in \"1.safetensors\""));
}

TEST_F(Sharded, RefusesShardsOutsideTheFolder) {
  for (const char* name :
       {"../x.safetensors", "/etc/passwd", "a/b", "", "..", ".", "a\\\\b", "a\\u0000b"}) {
    EXPECT_THAT(error(std::string(R"({"a":")") + name + "\"}"), HasSubstr("not a plain file name"))
        << name;
  }
}

TEST_F(Sharded, RefusesAnIndexThatIsNone) {
  EXPECT_THAT(error("7"), HasSubstr("weight_map"));
  EXPECT_THAT(error("{}"), HasSubstr("lists no tensor"));
  EXPECT_THAT(error(R"({"a":7})"), HasSubstr("\"a\" has no file name"));
  EXPECT_THAT(error(R"({"a":"x","a":"y"})"), HasSubstr("twice"));
}

}  // namespace
}  // namespace drift
