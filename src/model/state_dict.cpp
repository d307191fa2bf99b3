#include "model/state_dict.hpp"

#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/pickle.hpp"
#include "model/shown.hpp"

namespace drift {
namespace {

using pickle::Kind;
using pickle::Ref;
using pickle::Refusal;
using pickle::Value;
using pickle::Values;

constexpr std::size_t kMaxDimensions = 16;

enum Global : std::int64_t {
  kOrderedDict = 100,  // below: a storage type, by its dtype
  kSize,
  kRebuildTensor,
  kRebuildTensorV2,
  kRebuildParameter
};

std::optional<std::int64_t> known_global(std::string_view name) {
  static const std::map<std::string_view, std::int64_t> globals{
      {"collections.OrderedDict", kOrderedDict},
      {"torch.Size", kSize},
      {"torch._utils._rebuild_tensor", kRebuildTensor},
      {"torch._utils._rebuild_tensor_v2", kRebuildTensorV2},
      {"torch._utils._rebuild_parameter", kRebuildParameter},
      {"torch.DoubleStorage", static_cast<std::int64_t>(Dtype::kFloat64)},
      {"torch.FloatStorage", static_cast<std::int64_t>(Dtype::kFloat32)},
      {"torch.HalfStorage", static_cast<std::int64_t>(Dtype::kFloat16)},
      {"torch.BFloat16Storage", static_cast<std::int64_t>(Dtype::kBfloat16)},
      {"torch.LongStorage", static_cast<std::int64_t>(Dtype::kInt64)},
      {"torch.IntStorage", static_cast<std::int64_t>(Dtype::kInt32)},
      {"torch.ShortStorage", static_cast<std::int64_t>(Dtype::kInt16)},
      {"torch.CharStorage", static_cast<std::int64_t>(Dtype::kInt8)},
      {"torch.ByteStorage", static_cast<std::int64_t>(Dtype::kUint8)},
      {"torch.BoolStorage", static_cast<std::int64_t>(Dtype::kBool)}};
  const auto found = globals.find(name);
  return found == globals.end() ? std::nullopt : std::optional(found->second);
}

/// A storage as a persistent id names it, or a legacy view of one: its elements first to last.
struct StorageView {
  std::string key;
  Dtype dtype;
  std::uint64_t first, elements;
};

class StateDictRules : public pickle::Rules {
 public:
  std::optional<std::int64_t> global(std::string_view name) override { return known_global(name); }

  Value call(std::int64_t global, const Value& arguments, const Values& values) override {
    const std::vector<Ref>& items = arguments.items;
    switch (global) {
      case kOrderedDict:
        if (!items.empty()) {
          throw Refusal{"makes an OrderedDict out of something"};
        }
        return {Kind::kDict, 0, "", {}};
      case kSize:
        if (items.size() != 1 || values[items[0]].kind != Kind::kTuple ||
            values[items[0]].items.size() > kMaxDimensions) {
          throw Refusal{"makes a torch.Size out of something else than a few sizes"};
        }
        return values[items[0]];
      case kRebuildTensor:
        return rebuild_tensor(items, values, items.size() == 4);
      case kRebuildTensorV2:
        return rebuild_tensor(items, values, v2_arguments(items, values));
      case kRebuildParameter:
        if (items.size() != 3 || !is_tensor(values[items[0]])) {
          throw Refusal{"makes a parameter out of something else than a tensor"};
        }
        return values[items[0]];
      default:
        throw Refusal{"calls a storage type"};
    }
  }

  /// ("storage", type, key, location, elements), in legacy files with a sixth: None or a view of
  /// the storage as (key, first element, elements).
  Value persistent(const Value& id, const Values& values) override {
    const std::vector<Ref>& items = id.items;
    const auto kind = [&](std::size_t i) { return values[items[i]].kind; };
    if (id.kind != Kind::kTuple || (items.size() != 5 && items.size() != 6) ||
        values[items[0]].text != "storage" || kind(1) != Kind::kGlobal ||
        values[items[1]].number >= kOrderedDict || kind(2) != Kind::kText) {
      throw Refusal{"names an external object that is no storage"};
    }
    StorageView view{values[items[2]].text, static_cast<Dtype>(values[items[1]].number), 0,
                     size(values[items[4]])};
    if (view.elements > kMaxElements) {
      throw Refusal{fmt::format("names a storage of {} elements", view.elements)};
    }
    const auto [known, added] =
        storages_.try_emplace(view.key, PickledStorage{view.dtype, view.elements});
    if (!added && (known->second.dtype != view.dtype || known->second.elements != view.elements)) {
      throw Refusal{fmt::format("names storage \"{}\" twice, with different types or sizes",
                                shown(view.key))};
    }
    if (items.size() == 6 && kind(5) != Kind::kNone) {
      narrow(view, values[items[5]], values);
    }
    views_.push_back(std::move(view));
    return {Kind::kObject, static_cast<std::int64_t>(views_.size() - 1), "view", {}};
  }

  bool is_tensor(const Value& value) const {
    return value.kind == Kind::kObject && value.text == "tensor";
  }
  const PickledTensor& tensor(const Value& value) const {
    return tensors_[static_cast<std::size_t>(value.number)];
  }
  std::map<std::string, PickledStorage> take_storages() { return std::move(storages_); }

 private:
  static constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 59;  // in bytes: 2^62

  static std::uint64_t size(const Value& value) {
    if (value.kind != Kind::kInt || value.number < 0) {
      throw Refusal{"has something else where a size or an offset belongs"};
    }
    return static_cast<std::uint64_t>(value.number);
  }

  static std::vector<std::uint64_t> sizes(const Value& value, const Values& values) {
    if (value.kind != Kind::kTuple || value.items.size() > kMaxDimensions) {
      throw Refusal{"has something else where a shape or strides belong"};
    }
    std::vector<std::uint64_t> result;
    for (const Ref item : value.items) {
      result.push_back(size(values[item]));
    }
    return result;
  }

  static void narrow(StorageView& view, const Value& metadata, const Values& values) {
    if (metadata.kind != Kind::kTuple || metadata.items.size() != 3) {
      throw Refusal{"describes a view of a storage in an unknown way"};
    }
    const std::uint64_t first = size(values[metadata.items[1]]);
    const std::uint64_t elements = size(values[metadata.items[2]]);
    if (first > view.elements || elements > view.elements - first) {
      throw Refusal{
          fmt::format("describes a view beyond the end of storage \"{}\"", shown(view.key))};
    }
    view.first = first;
    view.elements = elements;
  }

  /// (storage, offset, size, stride, requires_grad, hooks[, metadata]); the metadata would say that
  /// elements are to be negated or conjugated.
  static bool v2_arguments(const std::vector<Ref>& items, const Values& values) {
    return items.size() == 6 || (items.size() == 7 && values[items[6]].kind == Kind::kDict &&
                                 values[items[6]].items.empty());
  }

  Value rebuild_tensor(const std::vector<Ref>& items, const Values& values, bool well_formed) {
    if (!well_formed || values[items[0]].kind != Kind::kObject || values[items[0]].text != "view") {
      throw Refusal{"makes a tensor in an unknown way"};
    }
    const StorageView& view = views_[static_cast<std::size_t>(values[items[0]].number)];
    PickledTensor tensor;
    tensor.storage = view.key;
    tensor.offset = size(values[items[1]]);
    tensor.shape = sizes(values[items[2]], values);
    tensor.strides = sizes(values[items[3]], values);
    check_bounds(tensor, view);
    tensor.offset += view.first;
    tensors_.push_back(std::move(tensor));
    return {Kind::kObject, static_cast<std::int64_t>(tensors_.size() - 1), "tensor", {}};
  }

  static void check_bounds(const PickledTensor& tensor, const StorageView& view) {
    std::uint64_t elements = 0;
    if (tensor.strides.size() != tensor.shape.size() ||
        !count_elements(tensor.shape, view.dtype, elements)) {
      throw Refusal{fmt::format("makes a tensor of shape {} with {} strides",
                                shape_text(tensor.shape), tensor.strides.size())};
    }
    std::uint64_t last = tensor.offset;  // the last element that the tensor reaches
    bool inside = elements == 0 ? last <= view.elements : last < view.elements;
    for (std::size_t i = 0; inside && elements > 0 && i < tensor.shape.size(); ++i) {
      const std::uint64_t steps = tensor.shape[i] - 1;
      inside = steps == 0 || tensor.strides[i] <= (view.elements - 1 - last) / steps;
      last += inside ? steps * tensor.strides[i] : 0;
    }
    if (!inside) {
      throw Refusal{fmt::format(
          "makes a tensor of shape {} at element {} of storage \"{}\", which has {} elements",
          shape_text(tensor.shape), tensor.offset, shown(view.key), view.elements)};
    }
  }

  std::map<std::string, PickledStorage> storages_;
  std::vector<StorageView> views_;
  std::vector<PickledTensor> tensors_;
};

bool holds_tensor(const Value& dict, const Values& values, const StateDictRules& rules) {
  for (std::size_t i = 1; i < dict.items.size(); i += 2) {
    if (rules.is_tensor(values[dict.items[i]])) {
      return true;
    }
  }
  return false;
}

/// Under which names training loops keep a model's state dict: PyTorch's own examples, Lightning,
/// nanoGPT, DeepSpeed.
bool names_state_dict(const Value& key) {
  return key.kind == Kind::kText && (key.text == "state_dict" || key.text == "model" ||
                                     key.text == "model_state_dict" || key.text == "module");
}

/// The dict of tensors in what was pickled. One that a name points to comes first: a checkpoint
/// may hold tensors beside its state dict, such as nanoGPT's best loss.
const Value& find_state_dict(const Value& root, const Values& values, const StateDictRules& rules,
                             const std::string& where) {
  const Value* nested = nullptr;
  std::string name;
  for (std::size_t i = 0; root.kind == Kind::kDict && i + 1 < root.items.size(); i += 2) {
    const Value& key = values[root.items[i]];
    const Value& value = values[root.items[i + 1]];
    if (!names_state_dict(key) || value.kind != Kind::kDict ||
        !holds_tensor(value, values, rules)) {
      continue;
    }
    if (nested != nullptr) {
      throw usage_error(
          fmt::format("{}: holds two state dicts, \"{}\" and \"{}\"", where, name, key.text),
          "save the one that is meant by itself");
    }
    nested = &value;
    name = key.text;
  }
  if (nested != nullptr) {
    return *nested;
  }
  if (root.kind == Kind::kDict && holds_tensor(root, values, rules)) {
    return root;
  }
  throw usage_error(where + ": holds no state dict (a dict from names to tensors)",
                    "save one with: torch.save(model.state_dict(), \"pytorch_model.bin\")");
}

}  // namespace

StateDict read_state_dict(std::span<const std::byte> bytes, std::size_t begin,
                          const std::string& where) {
  StateDictRules rules;
  const pickle::Result result = pickle::unpickle(bytes, begin, where, rules);
  const Value& dict = find_state_dict(result.value(), result.values, rules, where);
  StateDict state;
  state.end = result.end;
  std::set<std::string> names;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const Value& key = result.values[dict.items[i]];
    const Value& value = result.values[dict.items[i + 1]];
    if (key.kind != Kind::kText || !rules.is_tensor(value)) {
      throw usage_error(fmt::format("{}: the state dict's entry {} (\"{}\") is no tensor", where,
                                    i / 2 + 1, shown(key.text)));
    }
    if (!names.insert(key.text).second) {
      throw usage_error(fmt::format("{}: tensor \"{}\" is there twice", where, shown(key.text)));
    }
    state.tensors.push_back(rules.tensor(value));
    state.tensors.back().name = key.text;
  }
  state.storages = rules.take_storages();
  return state;
}

std::vector<StoredTensor> stored_tensors(
    const StateDict& state, const std::map<std::string, std::shared_ptr<const Storage>>& storages,
    const std::filesystem::path& file) {
  std::vector<StoredTensor> tensors;
  for (const PickledTensor& tensor : state.tensors) {
    tensors.push_back({tensor.name, state.storages.at(tensor.storage).dtype, tensor.shape,
                       tensor.strides, tensor.offset, storages.at(tensor.storage), file});
  }
  return tensors;
}

}  // namespace drift
