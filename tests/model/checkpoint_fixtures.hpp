#pragma once

#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/model_config.hpp"

#include "model/checkpoint.hpp"
#include "model/checkpoint_writer.hpp"
#include "model/weights_header.hpp"

namespace drift::test {

/// The message of the usage error that `act` ends in; a failure of the test when it ends otherwise.
inline std::string usage_error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// write_file() without its wait for the disk: for files by the thousand. (A file system may wait
/// when an old file is cut short and written again, hence a new one.)
inline void write_quickly(const fs::path& path, std::string_view bytes) {
  fs::remove(path);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

/// A tensor and its bytes.
struct TestTensor {
  OutgoingTensor info;
  std::string bytes;
};

using WriteCheckpoint = void (*)(const fs::path&, const std::vector<OutgoingTensor>&,
                                 const TensorSource&);

inline void write_checkpoint(WriteCheckpoint write, const fs::path& file,
                             const std::vector<TestTensor>& tensors) {
  std::vector<OutgoingTensor> infos;
  infos.reserve(tensors.size());
  for (const TestTensor& tensor : tensors) {
    infos.push_back(tensor.info);
  }
  write(file, infos, [&](std::size_t i, const ByteSink& sink) {
    sink(std::as_bytes(std::span(tensors[i].bytes)));
  });
}

inline ModelConfig small_config() {
  ModelConfig config;
  config.n_embd = 8;
  config.n_head = 2;
  config.n_layer = 2;
  config.n_positions = 6;
  config.vocab_size = 10;
  config.n_inner = 12;
  return config;
}

/// A value that names its place: no two tensors share one, all are exact in float16 and bfloat16.
inline float fixture_value(std::size_t tensor, std::size_t element) {
  return static_cast<float>(static_cast<int>((tensor * 37 + element * 5) % 255) - 127) / 64.0F;
}

/// All tensors of a GPT-2 of the config's sizes, float32.
inline std::vector<TestTensor> gpt2_tensors(const ModelConfig& config) {
  std::vector<TestTensor> tensors;
  for (const weights::Tensor& wanted : weights::tensor_list(header_of(config))) {
    std::vector<float> values(wanted.elements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = fixture_value(tensors.size(), i);
    }
    tensors.push_back({{wanted.name, Dtype::kFloat32, {wanted.shape.begin(), wanted.shape.end()}},
                       bytes_of(values)});
  }
  return tensors;
}

inline TestTensor& find(std::vector<TestTensor>& tensors, const std::string& name) {
  for (TestTensor& tensor : tensors) {
    if (tensor.info.name == name) {
      return tensor;
    }
  }
  throw std::logic_error("no tensor " + name);
}

/// All elements of a tensor of a checkpoint.
inline std::vector<float> elements_of(const StoredTensor& tensor) {
  std::vector<float> values;
  TensorReader reader(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) {
    values.insert(values.end(), piece.begin(), piece.end());
  }
  return values;
}

}  // namespace drift::test
