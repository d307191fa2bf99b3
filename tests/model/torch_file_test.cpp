#include "model/torch_file.hpp"

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <zip.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"
#include "model/pickle_writer.hpp"
#include "model/torch_format.hpp"
#include "model/zip_writer.hpp"
#include "test_data.hpp"

namespace drift {
namespace {

using pickle::Writer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Writes a part of a pickle.
using Part = std::function<void(Writer&)>;

/// The persistent id of a storage "0" of floats, with a legacy view's (first, elements) if asked.
Part storage(std::uint64_t elements, const std::vector<std::uint64_t>& view = {},
             bool legacy = true) {
  return [=](Writer& w) {
    w.mark().text("storage").global("torch", "FloatStorage").text("0").text("cpu");
    w.integer(elements);
    if (!view.empty()) {
      w.mark().text("view").integer(view[0]).integer(view[1]).tuple();
    } else if (legacy) {
      w.none();
    }
    w.tuple().persistent_id();
  };
}

Part tensor(const Part& storage_part, std::uint64_t offset, const std::vector<std::uint64_t>& shape,
            const std::vector<std::uint64_t>& strides) {
  return [=](Writer& w) {
    w.global("torch._utils", "_rebuild_tensor_v2").mark();
    storage_part(w);
    w.integer(offset).integers(shape).integers(strides).boolean(false);
    w.global("collections", "OrderedDict").empty_tuple().reduce().tuple().reduce();
  };
}

/// {"t": the part}
std::string state_dict(const Part& part) {
  Writer w;
  w.empty_dict().mark().text("t");
  part(w);
  return w.set_items().finish();
}

class TorchFile : public ::testing::Test {
 protected:
  /// A legacy file around a state dict's pickle and the bytes of storage "0".
  void write_legacy(const std::string& pickle, const std::vector<float>& data) {
    const std::uint64_t count = data.size();
    write_file(file_, legacy_head() + pickle +
                          Writer().empty_list().mark().text("0").append_items().finish() +
                          std::string(reinterpret_cast<const char*>(&count), sizeof count) +
                          test::bytes_of(data));
  }
  static std::string legacy_head(bool little = true) {
    return Writer().long_integer(torch_format::kMagicBytes).finish() +
           Writer().integer(1001).finish() +
           Writer().empty_dict().mark().text("little_endian").boolean(little).set_items().finish();
  }
  std::vector<float> read_one() {
    const auto tensors = read_torch_file(file_);
    EXPECT_EQ(tensors.size(), 1U);
    return test::elements_of(tensors.at(0));
  }
  std::string error() {
    return test::usage_error_of([&] { read_torch_file(file_); });
  }
  std::string legacy_error(const std::string& pickle, const std::vector<float>& data = {1, 2}) {
    write_legacy(pickle, data);
    return error();
  }

  TemporaryFolder folder_ = test::scratch_folder();
  fs::path file_ = folder_.path() / "pytorch_model.bin";
  const std::vector<float> six_{10, 11, 12, 13, 14, 15};
};

TEST_F(TorchFile, ReadsWhatItsWritersWriteInBothFormats) {
  const auto made = test::gpt2_tensors(test::small_config());
  for (const auto write : {write_torch_zip, write_torch_legacy}) {
    test::write_checkpoint(write, file_, made);
    const auto read = read_torch_file(file_);
    ASSERT_EQ(read.size(), made.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].name, made[i].info.name);
      EXPECT_EQ(read[i].shape, made[i].info.shape);
      EXPECT_EQ(test::bytes_of(test::elements_of(read[i])), made[i].bytes);
    }
  }
}

TEST_F(TorchFile, FollowsStridesAndOffsets) {
  write_legacy(state_dict(tensor(storage(6), 0, {3, 2}, {1, 3})), six_);
  EXPECT_THAT(read_one(), ElementsAre(10, 13, 11, 14, 12, 15));
  write_legacy(state_dict(tensor(storage(6), 1, {2}, {4})), six_);
  EXPECT_THAT(read_one(), ElementsAre(11, 15));
  write_legacy(state_dict(tensor(storage(6), 2, {2, 3}, {1, 0})), six_);
  EXPECT_THAT(read_one(), ElementsAre(12, 12, 12, 13, 13, 13));
  write_legacy(state_dict(tensor(storage(6), 5, {}, {})), six_);
  EXPECT_THAT(read_one(), ElementsAre(15));
}

TEST_F(TorchFile, CountsOffsetsFromALegacyView) {
  write_legacy(state_dict(tensor(storage(6, {2, 3}), 1, {2}, {1})), six_);
  EXPECT_THAT(read_one(), ElementsAre(13, 14));
}

TEST_F(TorchFile, RefusesTensorsBeyondTheirStorage) {
  for (const Part& part :
       {tensor(storage(6), 0, {7}, {1}), tensor(storage(6), 1, {6}, {1}),
        tensor(storage(6), 0, {2}, {6}), tensor(storage(6), 6, {1}, {1}),
        tensor(storage(6), 0, {2, 2}, {std::uint64_t{1} << 62, std::uint64_t{1} << 62}),
        tensor(storage(6), ~std::uint64_t{0} >> 1, {2}, {~std::uint64_t{0} >> 1}),
        tensor(storage(6, {2, 3}), 0, {4}, {1}), tensor(storage(6, {4, 3}), 0, {1}, {1}),
        tensor(storage(6), 0, {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, {0, 0}),
        tensor(storage(6), 0, {2}, {1, 1})}) {
    EXPECT_THAT(legacy_error(state_dict(part), six_), HasSubstr("the pickle "));
  }
}

TEST_F(TorchFile, TakesParametersSizesAndOldTensors) {
  const std::string pickle = state_dict([](Writer& w) {
    w.global("torch._utils", "_rebuild_parameter").mark();
    w.global("torch._utils", "_rebuild_tensor").mark();
    storage(2)(w);
    w.integer(0);
    w.global("torch", "Size").mark().integers({2}).tuple().reduce();
    w.integers({1}).tuple().reduce();
    w.boolean(true).global("collections", "OrderedDict").empty_tuple().reduce().tuple().reduce();
  });
  write_legacy(pickle, {1, 2});
  EXPECT_THAT(read_one(), ElementsAre(1, 2));
}

TEST_F(TorchFile, FindsANestedStateDict) {
  for (const char* name : {"state_dict", "model", "model_state_dict", "module"}) {
    Writer w;
    w.empty_dict().mark().text("epoch").integer(3).text(name).empty_dict().mark().text("t");
    tensor(storage(2), 0, {2}, {1})(w);
    write_legacy(w.set_items().set_items().finish(), {1, 2});
    EXPECT_THAT(read_one(), ElementsAre(1, 2));
  }
}

TEST_F(TorchFile, FindsANestedStateDictBesideATensor) {
  Writer w;
  w.empty_dict().mark().text("best_val_loss");
  tensor(storage(2), 1, {}, {})(w);
  w.text("model").empty_dict().mark().text("t");
  tensor(storage(2), 0, {2}, {1})(w);
  write_legacy(w.set_items().set_items().finish(), {1, 2});
  EXPECT_THAT(read_one(), ElementsAre(1, 2));
}

TEST_F(TorchFile, RefusesTwoNestedStateDictsByName) {
  Writer w;
  w.empty_dict().mark();
  for (const char* name : {"model", "state_dict"}) {
    w.text(name).empty_dict().mark().text("t");
    tensor(storage(2), 0, {2}, {1})(w);
    w.set_items();
  }
  EXPECT_THAT(legacy_error(w.set_items().finish()),
              HasSubstr("two state dicts, \"model\" and \"state_dict\""));
}

TEST_F(TorchFile, RefusesWhatHoldsNoStateDict) {
  EXPECT_THAT(legacy_error(Writer().empty_dict().finish()), HasSubstr("no state dict"));
  EXPECT_THAT(legacy_error(Writer().integer(7).finish()), HasSubstr("no state dict"));
  Writer mixed;
  mixed.empty_dict().mark().text("t");
  tensor(storage(2), 0, {2}, {1})(mixed);
  mixed.text("epoch").integer(3);
  EXPECT_THAT(legacy_error(mixed.set_items().finish()), HasSubstr("\"epoch\") is no tensor"));
}

TEST_F(TorchFile, RefusesAMaliciousPickleInBothFormats) {
  const std::string evil = state_dict(
      [](Writer& w) { w.global("posix", "system").mark().text("touch owned").tuple().reduce(); });
  EXPECT_THAT(legacy_error(evil),
              AllOf(HasSubstr("pytorch_model.bin: byte "),
                    HasSubstr("the pickle asks for \"posix.system\", which is no part of a state "
                              "dict")));
  ZipWriter zip(file_);
  zip.add("archive/data.pkl", evil);
  zip.commit();
  EXPECT_THAT(error(), AllOf(HasSubstr("data.pkl: byte "), HasSubstr("\"posix.system\"")));
  write_file(file_, evil);  // a pickle that isn't even torch's
  EXPECT_THAT(error(), HasSubstr("\"posix.system\""));
}

TEST_F(TorchFile, RefusesGlobalsThatOnlyLookLikeTorchs) {
  for (const char* name : {"FloatTensor", "load", "ComplexFloatStorage",
                           "_utils._rebuild_tensor_v3", "FloatStorage.__init__"}) {
    EXPECT_THAT(legacy_error(state_dict([&](Writer& w) { w.global("torch", name); })),
                HasSubstr(std::string("\"torch.") + name + "\""));
  }
}

TEST_F(TorchFile, RefusesCallsWithOtherArgumentsThanTorchs) {
  const auto call = [](const char* module, const char* name, const Part& arguments) {
    return state_dict([=](Writer& w) {
      w.global(module, name).mark();
      arguments(w);
      w.tuple().reduce();
    });
  };
  const Part nothing = [](Writer&) {};
  const Part one = [](Writer& w) { w.integer(1); };
  for (const Part& arguments : {nothing, one}) {
    legacy_error(call("torch._utils", "_rebuild_tensor", arguments));
    legacy_error(call("torch._utils", "_rebuild_tensor_v2", arguments));
    legacy_error(call("torch._utils", "_rebuild_parameter", arguments));
    legacy_error(call("torch", "Size", arguments));
    legacy_error(call("torch", "FloatStorage", arguments));
  }
  legacy_error(call("collections", "OrderedDict", one));
}

TEST_F(TorchFile, RefusesAStorageWithTwoSizes) {
  Writer w;
  w.empty_dict().mark().text("a");
  tensor(storage(2), 0, {2}, {1})(w);
  w.text("b");
  tensor(storage(3), 0, {2}, {1})(w);
  EXPECT_THAT(legacy_error(w.set_items().finish()), HasSubstr("storage \"0\" twice"));
}

TEST_F(TorchFile, RefusesAStorageWithTwoTypes) {
  const auto halves = [](Writer& w) {
    w.mark().text("storage").global("torch", "HalfStorage").text("0").text("cpu").integer(2).none();
    w.tuple().persistent_id();
  };
  Writer w;
  w.empty_dict().mark().text("a");
  tensor(storage(2), 0, {2}, {1})(w);
  w.text("b");
  tensor(halves, 0, {2}, {1})(w);
  EXPECT_THAT(legacy_error(w.set_items().finish()), HasSubstr("storage \"0\" twice"));
}

TEST_F(TorchFile, RefusesLegacyStreamsThatDisagreeWithThemselves) {
  const std::string two = state_dict(tensor(storage(2), 0, {2}, {1}));
  EXPECT_THAT(legacy_error(two, {1}), HasSubstr("needs 16 bytes, but 12 are left"));
  EXPECT_THAT(legacy_error(two, {1, 2, 3}), HasSubstr("has 3 elements, its tensors say 2"));
  write_file(file_, legacy_head() + two + Writer().empty_list().finish());
  EXPECT_THAT(error(), HasSubstr("holds 0 of the 1 storages"));
  write_legacy(two, {1, 2});
  write_file(file_, read_file(file_) + "x");
  EXPECT_THAT(error(), HasSubstr("last 1 bytes"));
  write_file(file_, legacy_head(false) + two);
  EXPECT_THAT(error(), HasSubstr("big-endian"));
  write_file(file_, Writer().integer(5).finish());
  EXPECT_THAT(error(), HasSubstr("not one that torch.save wrote"));
}

TEST_F(TorchFile, RefusesOtherFiles) {
  write_file(file_, "hello");
  EXPECT_THAT(error(), HasSubstr("neither safetensors nor"));
  write_file(file_, "");
  EXPECT_THAT(error(), HasSubstr("neither safetensors nor"));
}

class TorchZip : public TorchFile {
 protected:
  const std::string two_ = state_dict(tensor(storage(2, {}, false), 0, {2}, {1}));
  const std::string data_ = test::bytes_of<float>({1, 2});
};

TEST_F(TorchZip, TakesDeflatedEntriesAndAnyFolderName) {
  int code = 0;
  zip_t* zip = zip_open(file_.c_str(), ZIP_CREATE, &code);
  ASSERT_NE(zip, nullptr);
  const std::string zeros(sizeof(float) * 1000, '\0');
  const std::string pickle = state_dict(tensor(storage(1000, {}, false), 0, {1000}, {1}));
  for (const auto& [name, bytes] :
       {std::pair("model/data.pkl", &pickle), {"model/data/0", &zeros}}) {
    const auto index =
        zip_file_add(zip, name, zip_source_buffer(zip, bytes->data(), bytes->size(), 0), 0);
    ASSERT_GE(index, 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 9);
  }
  ASSERT_EQ(zip_close(zip), 0);
  ASSERT_LT(fs::file_size(file_), zeros.size());
  EXPECT_EQ(read_one(), std::vector<float>(1000));
}

TEST_F(TorchZip, RefusesAMissingOrWronglySizedStorage) {
  {
    ZipWriter zip(file_);
    zip.add("archive/data.pkl", two_);
    zip.commit();
  }
  EXPECT_THAT(error(), HasSubstr("\"archive/data/0\", which a tensor needs, isn't there"));
  ZipWriter zip(file_);
  zip.add("archive/data.pkl", two_);
  zip.add("archive/data/0", data_ + "x");
  zip.commit();
  EXPECT_THAT(error(), HasSubstr("has 9 bytes, its tensors need 8"));
}

TEST_F(TorchZip, RefusesAnotherByteOrder) {
  ZipWriter zip(file_);
  zip.add("archive/data.pkl", two_);
  zip.add("archive/byteorder", "big");
  zip.add("archive/data/0", data_);
  zip.commit();
  EXPECT_THAT(error(), HasSubstr("big-endian"));
}

TEST_F(TorchZip, RefusesAZipThatIsNotTorchs) {
  ZipWriter zip(file_);
  zip.add("hello.txt", "hello");
  zip.commit();
  EXPECT_THAT(error(), HasSubstr("without data.pkl"));
  write_file(file_, "PK\x03\x04 and no more");
  EXPECT_THAT(error(), HasSubstr("begins like a zip"));
}

TEST_F(TorchZip, ADamagedStorageIsFoundByItsChecksum) {
  ZipWriter zip(file_);
  zip.add("archive/data.pkl", two_);
  zip.add("archive/data/0", data_);
  zip.commit();
  std::string bytes = read_file(file_);
  bytes[bytes.find(data_)] ^= 1;
  write_file(file_, bytes);
  const auto tensors = read_torch_file(file_);
  EXPECT_THAT(test::usage_error_of([&] { test::elements_of(tensors[0]); }),
              HasSubstr("\"archive/data/0\""));
}

/// Reads a damaged file to the end: it may be refused, or be as good as another file.
void read_whatever_it_is(const fs::path& file) {
  try {
    for (const StoredTensor& tensor : read_torch_file(file)) {
      if (tensor.dtype == Dtype::kFloat32 && tensor.elements() < 1000) {
        test::elements_of(tensor);
      }
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
  }
}

class DamagedTorchFile : public TorchFile,
                         public ::testing::WithParamInterface<test::WriteCheckpoint> {
 protected:
  std::string whole() {
    ModelConfig config = test::small_config();
    config.n_layer = 1;
    config.n_embd = 2;
    config.n_inner = 2;
    test::write_checkpoint(GetParam(), file_, test::gpt2_tensors(config));
    return read_file(file_);
  }
};

TEST_P(DamagedTorchFile, IsRefusedWhereverItIsCut) {
  const std::string bytes = whole();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    test::write_quickly(file_, std::string_view(bytes).substr(0, size));
    error();
  }
}

TEST_P(DamagedTorchFile, NeverCrashesHangsOrTakesMuchMemory) {
  const std::string bytes = whole();
  std::mt19937 random(20220601);
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = bytes;
    for (std::uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    test::write_quickly(file_, damaged);
    read_whatever_it_is(file_);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, DamagedTorchFile,
                         ::testing::Values(write_torch_zip, write_torch_legacy),
                         [](const auto& format) {
                           return format.param == &write_torch_zip ? "Zip" : "Legacy";
                         });

}  // namespace
}  // namespace drift
