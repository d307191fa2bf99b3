#include "model/checkpoint_writer.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"

#include "model/checkpoint.hpp"
#include "model/pickle_writer.hpp"
#include "model/safetensors.hpp"
#include "model/torch_format.hpp"
#include "model/zip_writer.hpp"

namespace drift {
namespace {

/// What torch calls a storage of this dtype.
std::string_view storage_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
      return "DoubleStorage";
    case Dtype::kFloat32:
      return "FloatStorage";
    case Dtype::kFloat16:
      return "HalfStorage";
    case Dtype::kBfloat16:
      return "BFloat16Storage";
    case Dtype::kInt64:
      return "LongStorage";
    case Dtype::kInt32:
      return "IntStorage";
    case Dtype::kInt16:
      return "ShortStorage";
    case Dtype::kInt8:
      return "CharStorage";
    case Dtype::kUint8:
      return "ByteStorage";
    case Dtype::kBool:
      return "BoolStorage";
    default:
      throw std::logic_error("torch has no storage of this dtype");
  }
}

void write_ordered_dict(pickle::Writer& pickle) {
  pickle.global("collections", "OrderedDict").empty_tuple().reduce();
}

/// The tensor as a view of a whole storage with the key `key`.
void write_tensor(pickle::Writer& pickle, const OutgoingTensor& tensor, std::size_t key,
                  bool legacy) {
  pickle.global("torch._utils", "_rebuild_tensor_v2").mark();
  pickle.mark().text("storage").global("torch", storage_type(tensor.dtype));
  pickle.text(std::to_string(key)).text("cpu");
  pickle.integer(tensor.bytes() / dtype_size(tensor.dtype));
  if (legacy) {
    pickle.none();  // the storage is no view of another
  }
  pickle.tuple().persistent_id();
  pickle.integer(0).integers(tensor.shape).integers(contiguous_strides(tensor.shape));
  pickle.boolean(false);
  write_ordered_dict(pickle);  // no hooks
  pickle.tuple().reduce();
}

std::string state_dict_pickle(const std::vector<OutgoingTensor>& tensors, bool legacy) {
  pickle::Writer pickle;
  write_ordered_dict(pickle);
  pickle.mark();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pickle.text(tensors[i].name);
    write_tensor(pickle, tensors[i], i, legacy);
  }
  pickle.set_items();
  pickle.empty_dict().mark().text("_metadata");
  write_ordered_dict(pickle);
  pickle.set_items().build();
  return pickle.finish();
}

std::string system_pickle() {
  pickle::Writer pickle;
  pickle.empty_dict().mark();
  pickle.text("protocol_version").integer(torch_format::kProtocol);
  pickle.text("little_endian").boolean(true);
  pickle.text("type_sizes").empty_dict().mark();
  pickle.text("short").integer(2).text("int").integer(4).text("long").integer(4);
  pickle.set_items().set_items();
  return pickle.finish();
}

std::string keys_pickle(std::size_t count) {
  pickle::Writer pickle;
  pickle.empty_list().mark();
  for (std::size_t i = 0; i < count; ++i) {
    pickle.text(std::to_string(i));
  }
  return pickle.append_items().finish();
}

std::string number_bytes(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string safetensors_header(const std::vector<OutgoingTensor>& tensors) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  std::uint64_t at = 0;
  for (const OutgoingTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", safetensors_dtype_name(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begin at a multiple of 8
  return text;
}

}  // namespace

std::uint64_t OutgoingTensor::bytes() const {
  std::uint64_t count = dtype_size(dtype);
  for (const std::uint64_t size : shape) {
    count *= size;
  }
  return count;
}

void write_safetensors(const fs::path& path, const std::vector<OutgoingTensor>& tensors,
                       const TensorSource& source) {
  AtomicFile file(path);
  const std::string header = safetensors_header(tensors);
  file.write(number_bytes(header.size()));
  file.write(header);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    source(i, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  }
  file.commit();
}

void write_torch_zip(const fs::path& path, const std::vector<OutgoingTensor>& tensors,
                     const TensorSource& source) {
  ZipWriter zip(path);
  zip.add("archive/data.pkl", state_dict_pickle(tensors, false));
  zip.add("archive/byteorder", "little");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    zip.add("archive/data/" + std::to_string(i), [&](const ByteSink& sink) { source(i, sink); });
  }
  zip.add("archive/version", "3\n");
  zip.commit();
}

void write_torch_legacy(const fs::path& path, const std::vector<OutgoingTensor>& tensors,
                        const TensorSource& source) {
  AtomicFile file(path);
  file.write(pickle::Writer().long_integer(torch_format::kMagicBytes).finish());
  file.write(pickle::Writer().integer(torch_format::kProtocol).finish());
  file.write(system_pickle());
  file.write(state_dict_pickle(tensors, true));
  file.write(keys_pickle(tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    file.write(number_bytes(tensors[i].bytes() / dtype_size(tensors[i].dtype)));
    source(i, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  }
  file.commit();
}

}  // namespace drift
