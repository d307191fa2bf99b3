#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/progress.hpp"

namespace drift {

/// A file of a model on the hub.
struct HubFile {
  std::string name;
  std::uint64_t bytes = 0;  ///< 0: unknown
  std::string sha256;
};

/// A model on the Hugging Face hub, pinned to one revision.
struct HubModel {
  std::string name;                           ///< how people call it here: "gpt2"
  std::string repository;                     ///< "openai-community/gpt2"
  std::vector<std::string> old_repositories;  ///< other names under which caches may hold it
  std::string revision;
  std::vector<HubFile> weights;  ///< any one of them will do; the first that is offered is taken
  std::vector<HubFile> files;    ///< all of them are needed
};

/// The study's model.
HubModel gpt2_on_hub();

/// The model's folder, if all its files lie in our cache or in Hugging Face's (`HF_HUB_CACHE`,
/// `HF_HOME`/hub, or its default place) with the right hashes.
std::optional<std::filesystem::path> find_hub_model(const HubModel& model, Progress& progress);

/// Why the hub (`HF_ENDPOINT`, or the public one) can't give the model now; nothing when it can.
/// Takes seconds at most.
std::optional<std::string> hub_out_of_reach(const HubModel& model);

/// Whether `HF_HUB_OFFLINE` forbids to ask the hub.
bool hub_is_off();

/// The model's folder: as find_hub_model() finds it, else fetched into our cache, resumed when it
/// is there in part, and verified. Processes that fetch at the same time wait for one another.
/// Errors (trouble): the hub is off or out of reach, its HTTP status, a hash mismatch, no room.
std::filesystem::path fetch_hub_model(const HubModel& model, bool offline, Progress& progress);

}  // namespace drift
