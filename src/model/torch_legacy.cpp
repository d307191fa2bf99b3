#include <cstring>
#include <set>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/mapped_storage.hpp"
#include "model/pickle.hpp"
#include "model/shown.hpp"
#include "model/state_dict.hpp"
#include "model/torch_file.hpp"
#include "model/torch_format.hpp"

namespace drift {
namespace {

using pickle::Kind;

constexpr const char* kDamaged = "the file looks truncated or damaged; fetch or copy it again";

/// Walks through the stream: pickles one after the other, then the storages.
class Stream {
 public:
  explicit Stream(const fs::path& file)
      : file_(file), mapped_(std::make_shared<const MappedFile>(file)), where_(file.string()) {}

  std::vector<StoredTensor> read() {
    read_preamble();
    const StateDict state = read_state_dict(mapped_->bytes(), at_, where_);
    at_ = state.end;
    read_storages(state, plain_pickle());
    return stored_tensors(state, storages_, file_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const char* hint = kDamaged) const {
    throw usage_error(fmt::format("{}: {}", where_, what), hint);
  }

  pickle::Result plain_pickle() {
    pickle::Rules rules;
    pickle::Result result = pickle::unpickle(mapped_->bytes(), at_, where_, rules);
    at_ = result.end;
    return result;
  }

  void read_preamble() {
    const pickle::Result magic = plain_pickle();
    if (magic.value().kind != Kind::kBigInt || (magic.value().text != torch_format::kMagicBytes &&
                                                magic.value().text != torch_format::kMagicDigits)) {
      fail("a pickle, but not one that torch.save wrote",
           "save the model with: torch.save(model.state_dict(), \"pytorch_model.bin\")");
    }
    const pickle::Result protocol = plain_pickle();
    if (protocol.value().kind != Kind::kInt || protocol.value().number != torch_format::kProtocol) {
      fail("written in a version of torch's legacy format that isn't known here");
    }
    check_system(plain_pickle());
  }

  void check_system(const pickle::Result& system) const {
    const auto& items = system.value().items;
    for (std::size_t i = 0; system.value().kind == Kind::kDict && i + 1 < items.size(); i += 2) {
      if (system.values[items[i]].text == "little_endian") {
        if (system.values[items[i + 1]].number != 1) {
          fail("written on a big-endian machine", "convert it to safetensors there");
        }
        return;
      }
    }
    fail("doesn't say in which byte order it was written");
  }

  /// After the list of keys, each storage: its number of elements, then its bytes.
  void read_storages(const StateDict& state, const pickle::Result& keys) {
    if (keys.value().kind != Kind::kList) {
      fail("has no list of its storages");
    }
    for (const pickle::Ref ref : keys.value().items) {
      const std::string& key = keys.values[ref].text;
      const auto named = state.storages.find(key);
      if (named == state.storages.end() || storages_.contains(key)) {
        fail(fmt::format("storage \"{}\" belongs to no tensor, or is there twice", shown(key)));
      }
      storages_[key] = read_storage(key, named->second);
    }
    if (storages_.size() != state.storages.size()) {
      fail(fmt::format("holds {} of the {} storages that its tensors need", storages_.size(),
                       state.storages.size()));
    }
    if (at_ != mapped_->bytes().size()) {
      fail(fmt::format("the last {} bytes belong to no tensor", mapped_->bytes().size() - at_));
    }
  }

  std::shared_ptr<const Storage> read_storage(const std::string& key, const PickledStorage& named) {
    std::uint64_t elements = 0;
    const std::uint64_t left = mapped_->bytes().size() - at_;
    const std::uint64_t size = named.elements * dtype_size(named.dtype);
    if (left < sizeof elements || left - sizeof elements < size) {
      fail(fmt::format("storage \"{}\" needs {} bytes, but {} are left", shown(key),
                       size + sizeof elements, left));
    }
    std::memcpy(&elements, mapped_->bytes().data() + at_, sizeof elements);
    if (elements != named.elements) {
      fail(fmt::format("storage \"{}\" has {} elements, its tensors say {}", shown(key), elements,
                       named.elements));
    }
    at_ += sizeof elements;
    const auto bytes = mapped_->bytes().subspan(at_, size);
    at_ += size;
    return std::make_shared<MappedStorage>(mapped_, bytes);
  }

  fs::path file_;
  std::shared_ptr<const MappedFile> mapped_;
  std::string where_;
  std::size_t at_ = 0;
  std::map<std::string, std::shared_ptr<const Storage>> storages_;
};

}  // namespace

std::vector<StoredTensor> read_torch_legacy(const fs::path& file) { return Stream(file).read(); }

}  // namespace drift
