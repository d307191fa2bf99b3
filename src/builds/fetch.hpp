#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/error.hpp"
#include "driftaudit/pin.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/progress.hpp"

namespace drift {

/// Fetches wheels with pip_command()'s `download --require-hashes` into `folder`, which is ours and
/// where pip's temporary files go too. `python_tag` is that of the pin. The result is in the order
/// of `wheels`. Errors (trouble): see pip_failure(); no python3.
std::vector<std::filesystem::path> fetch_wheels(const std::vector<PinnedWheel>& wheels,
                                                const std::string& python_tag,
                                                const std::filesystem::path& folder,
                                                Progress& progress);

/// What a failed run of pip comes to: hash mismatch, disk full, no network, no such wheel, no pip,
/// or pip's own last error line. `what` names what was fetched.
Error pip_failure(const ProcessResult& result, const std::string& what);

/// Bytes that fetching takes at its peak: pip downloads to its temporary folder and copies from
/// there, so that for a moment every wheel lies there twice.
std::uint64_t fetch_bytes(const std::vector<PinnedWheel>& wheels);

}  // namespace drift
