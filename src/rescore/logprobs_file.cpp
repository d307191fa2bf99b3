#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/rescore.hpp"

#include "model/strict_json.hpp"

namespace drift {
namespace {

constexpr const char* kKeys[] = {"prompt_ids", "token_ids", "logprobs", "request_id"};
constexpr const char* kForm =
    R"(a line is {"request_id": "a1", "prompt_ids": [464, 3139], "token_ids": [318, 257], )"
    R"("logprobs": [-0.52, -2.1]})";

nlohmann::json parsed(std::string_view line, const std::string& where) {
  try {
    return parse_strict_json(line, where);
  } catch (const Error& error) {
    throw usage_error(error.what(), kForm);
  }
}

/// One line, with its place for messages.
class LineReader {
 public:
  LineReader(std::string where, std::string_view line, const ModelConfig& config)
      : where_(std::move(where)), config_(config), object_(parsed(line, where_)) {
    if (!object_.is_object()) {
      refuse("not an object");
    }
    for (const char* key : kKeys) {
      if (!object_.contains(key)) {
        refuse(fmt::format("\"{}\" is missing", key));
      }
    }
    if (object_.size() > std::size(kKeys)) {
      refuse(fmt::format("a key other than {}", fmt::join(kKeys, ", ")));
    }
  }

  DecodedRequest request() const {
    DecodedRequest request;
    request.mode = "given";
    request.request_id = request_id();
    request.prompt_ids = ids("prompt_ids");
    request.tokens = ids("token_ids");
    request.logprobs = logprobs();
    if (request.logprobs.size() != request.tokens.size()) {
      refuse(fmt::format("{} log-probabilities for {} tokens", request.logprobs.size(),
                         request.tokens.size()));
    }
    const std::size_t length = request.prompt_ids.size() + request.tokens.size();
    const std::size_t most = std::size_t{config_.n_positions} + 1;
    if (length > most) {
      refuse(
          fmt::format("prompt and answer have {} tokens, where the model's context takes {} and "
                      "one more",
                      length, most - 1));
    }
    return request;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw usage_error(fmt::format("{}: {}", where_, what), kForm);
  }

  std::string request_id() const {
    const nlohmann::json& id = object_["request_id"];
    if (id.is_number_integer()) {
      return id.dump();
    }
    if (!id.is_string() || id.get_ref<const std::string&>().empty()) {
      refuse("\"request_id\" is neither text nor a whole number");
    }
    return id.get<std::string>();
  }

  const nlohmann::json& list(const char* key) const {
    const nlohmann::json& values = object_[key];
    if (!values.is_array() || values.empty()) {
      refuse(fmt::format("\"{}\" is no list, or an empty one", key));
    }
    return values;
  }

  std::vector<std::int32_t> ids(const char* key) const {
    std::vector<std::int32_t> ids;
    for (const nlohmann::json& value : list(key)) {
      const bool whole = value.is_number_unsigned();
      if (!whole || value.get<std::uint64_t>() >= config_.vocab_size) {
        refuse(fmt::format("\"{}\"[{}] is {}, no id of the model's {} tokens", key, ids.size(),
                           value.is_number() ? value.dump() : "no number", config_.vocab_size));
      }
      ids.push_back(value.get<std::int32_t>());
    }
    return ids;
  }

  [[noreturn]] void refuse_positive(const nlohmann::json& value, std::size_t index) const {
    double lowest = std::numeric_limits<double>::infinity();
    double highest = -lowest;
    for (const nlohmann::json& each : object_["logprobs"]) {
      lowest = std::min(lowest, each.is_number() ? each.get<double>() : -1);
      highest = std::max(highest, each.is_number() ? each.get<double>() : -1);
    }
    const std::string what = fmt::format(
        "{}: \"logprobs\"[{}] is {}: a log-probability is at most 0", where_, index, value.dump());
    if (lowest >= 0) {
      throw usage_error(what, highest <= 1
                                  ? "all of this line lie between 0 and 1: give the "
                                    "natural logarithm of probabilities"
                                  : "all of this line are positive: give log-probabilities, "
                                    "not their negatives");
    }
    throw usage_error(what, kForm);
  }

  std::vector<double> logprobs() const {
    std::vector<double> logprobs;
    for (const nlohmann::json& value : list("logprobs")) {
      if (!value.is_number()) {
        refuse(fmt::format("\"logprobs\"[{}] is no number", logprobs.size()));
      }
      const auto logprob = value.get<double>();
      if (!(logprob <= 0)) {
        refuse_positive(value, logprobs.size());
      }
      logprobs.push_back(logprob);
    }
    return logprobs;
  }

  std::string where_;
  const ModelConfig& config_;
  nlohmann::json object_;
};

}  // namespace

std::vector<DecodedRequest> read_logprobs(const std::filesystem::path& path,
                                          const Tokenizer& tokenizer, const ModelConfig& config) {
  const std::string text = read_file(path);
  std::vector<DecodedRequest> requests;
  std::set<std::string> seen;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string where = fmt::format("{}: line {}", path.string(), requests.size() + 1);
    const std::string_view line(text.data() + at, end - at);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      throw usage_error(where + ": empty", kForm);
    }
    DecodedRequest request = LineReader(where, line, config).request();
    request.prompt_text = tokenizer.decode(request.prompt_ids);
    if (!seen.insert(*request.request_id).second) {
      throw usage_error(where + ": its request_id stands on an earlier line too",
                        "each line is a request of its own");
    }
    request.prompt = static_cast<std::uint32_t>(requests.size() + 1);
    requests.push_back(std::move(request));
    at = end + 1;
  }
  if (requests.empty()) {
    throw usage_error(path.string() + ": holds no request", kForm);
  }
  return requests;
}

}  // namespace drift
