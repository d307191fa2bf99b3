#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/checkpoint.hpp"

namespace drift {

/// By its suffix or its first bytes.
bool is_safetensors(const std::filesystem::path& file);

/// "F32": the format's own name.
std::string_view safetensors_dtype_name(Dtype dtype);

/// The tensors of a safetensors file, in the order of their bytes. Held to the format's own rules:
/// the header is a JSON object of at most 4 MiB, and the tensors cover the bytes behind it without
/// gap or overlap. Errors (usage) name file and tensor.
std::vector<StoredTensor> read_safetensors(const std::filesystem::path& file);

}  // namespace drift
