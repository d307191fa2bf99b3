#include "model/canonical.hpp"

#include <optional>
#include <set>
#include <system_error>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/trusted_hash.hpp"
#include "driftaudit/weights.hpp"

#include "model/checkpoint.hpp"
#include "runner/weights_format.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// Names the canonical file by all that it is made of.
std::string key_of(const fs::path& source, const fs::path& config_file, bool tied,
                   Progress& progress) {
  std::set<fs::path> files = {checkpoint_file(source)};
  for (const StoredTensor& tensor : open_checkpoint(source)) {
    files.insert(tensor.file);  // the shards of an index
  }
  std::string parts = fmt::format("{} {} {}", weights::kVersion, tied ? "tied" : "stored",
                                  trusted_sha256(config_file, "", &progress));
  for (const fs::path& file : files) {
    parts += " " + trusted_sha256(file, "", &progress);
  }
  return sha256_hex(parts).substr(0, 32);
}

/// What lies beside a canonical file: what can't be read off it, and its digest.
struct Record {
  std::string digest;
  CheckpointFacts facts;
  bool tied = true;
};

std::optional<Record> read_record(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) {
    return std::nullopt;
  }
  const json record = json::parse(read_file(path), nullptr, false);
  try {
    const StoredHead head{record.at("head_elements"), record.at("head_differing")};
    return Record{record.at("sha256"),
                  {record.at("source_dtype"), head, record.at("other_heads")},
                  record.at("tied")};
  } catch (const json::exception&) {
    return std::nullopt;  // not ours, or damaged: made anew
  }
}

std::optional<Record> cached(const fs::path& file, const fs::path& record_file,
                             Progress& progress) {
  auto record = read_record(record_file);
  std::error_code none;
  if (record && fs::is_regular_file(file, none) &&
      trusted_sha256(file, "", &progress) == record->digest) {
    return record;
  }
  return std::nullopt;
}

Record make(const fs::path& source, ModelConfig config, HeadChoice choice, const fs::path& file,
            const fs::path& record_file, Progress& progress) {
  Record record;
  record.facts = write_canonical_weights(source, config, file, choice);
  record.tied = config.tied;
  record.digest = sha256_with_progress(file, progress);
  record_sha256(file, record.digest);
  const json text = {{"sha256", record.digest},
                     {"source_dtype", record.facts.dtype},
                     {"head_elements", record.facts.head.elements},
                     {"head_differing", record.facts.head.differing},
                     {"other_heads", record.facts.other_heads},
                     {"tied", record.tied},
                     {"source", fs::absolute(source).string()}};
  write_file(record_file, text.dump(), true);
  return record;
}

}  // namespace

CanonicalWeights canonical_weights(const fs::path& source, const fs::path& config_file,
                                   ModelConfig& config, HeadChoice choice, Progress& progress) {
  const fs::path folder = cache_folder() / "models" / "canonical";
  make_folders(folder);
  const bool tied = choice == HeadChoice::kConfig ? config.tied : choice == HeadChoice::kTied;
  const std::string key = key_of(source, config_file, tied, progress);
  const fs::path file = folder / (key + ".weights");
  const fs::path record_file = folder / (key + ".json");
  std::optional<Record> record = cached(file, record_file, progress);
  if (!record) {
    const FileLock lock(folder / (key + ".lock"));
    record = cached(file, record_file, progress);  // another process may have made it meanwhile
    if (!record) {
      record = make(source, config, choice, file, record_file, progress);
    }
  }
  config.tied = record->tied;
  return {file, record->digest, record->facts};
}

}  // namespace drift
