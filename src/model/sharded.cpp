#include "model/sharded.hpp"

#include <map>
#include <set>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/shown.hpp"
#include "model/strict_json.hpp"

namespace drift {
namespace {

constexpr std::uint64_t kMaxIndex = std::uint64_t{16} << 20;

using NamesByShard = std::map<std::string, std::set<std::string>>;

/// A shard lies beside its index: anything else in its name could point anywhere on the disk.
void check_shard_name(const std::string& shard, const std::string& where) {
  if (shard.empty() || shard == "." || shard == ".." ||
      shard.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
    throw usage_error(
        fmt::format("{}: the shard \"{}\" is not a plain file name", where, shown(shard)),
        "shards lie in the index's own folder");
  }
}

NamesByShard read_index(const fs::path& index) {
  const std::string where = index.string();
  const nlohmann::json json = parse_strict_json(read_file(index, kMaxIndex), where);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
    throw usage_error(fmt::format("{}: has no \"weight_map\"", where),
                      "name the folder of a model, its weights file or the index of its shards");
  }
  NamesByShard names;
  for (const auto& [name, shard] : json["weight_map"].items()) {
    if (!shard.is_string()) {
      throw usage_error(fmt::format("{}: tensor \"{}\" has no file name", where, shown(name)));
    }
    check_shard_name(shard.get<std::string>(), where);
    names[shard.get<std::string>()].insert(name);
  }
  if (names.empty()) {
    throw usage_error(fmt::format("{}: lists no tensor", where));
  }
  return names;
}

std::vector<StoredTensor> read_shard(const fs::path& index, const std::string& shard) {
  const fs::path file = index.parent_path() / shard;
  if (!fs::exists(file)) {
    throw usage_error(fmt::format("{}: the shard \"{}\" isn't there", index.string(), shown(shard)),
                      "fetch all files of the checkpoint into one folder");
  }
  return read_weights_file(file);
}

}  // namespace

std::vector<StoredTensor> read_sharded(const fs::path& index) {
  std::vector<StoredTensor> tensors;
  for (auto& [shard, names] : read_index(index)) {
    std::set<std::string> awaited = names;
    for (StoredTensor& tensor : read_shard(index, shard)) {
      if (awaited.erase(tensor.name) == 0) {
        throw usage_error(fmt::format("{}: tensor \"{}\" is not listed for this shard in {}",
                                      tensor.file.string(), shown(tensor.name),
                                      index.filename().string()));
      }
      tensors.push_back(std::move(tensor));
    }
    if (!awaited.empty()) {
      throw usage_error(fmt::format("{}: tensor \"{}\" is not in \"{}\"", index.string(),
                                    shown(*awaited.begin()), shown(shard)),
                        "index and shards belong to different checkpoints, or one is incomplete");
    }
  }
  return tensors;
}

}  // namespace drift
