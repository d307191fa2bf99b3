#pragma once

#include <filesystem>
#include <vector>

#include "model/checkpoint.hpp"

namespace drift {

/// The tensors of a file that torch.save wrote: a zip (torch 1.6 and later) or the legacy stream
/// of pickles and storages; which, its first bytes say. Errors (usage) name file and byte.
std::vector<StoredTensor> read_torch_file(const std::filesystem::path& file);

/// The two formats. Legacy storages stay in the mapped file; a zip's are read when a tensor is.
std::vector<StoredTensor> read_torch_zip(const std::filesystem::path& file);
std::vector<StoredTensor> read_torch_legacy(const std::filesystem::path& file);

}  // namespace drift
