#include "driftaudit/model.hpp"

#include <limits>
#include <map>

#include <fmt/format.h>

#include "driftaudit/made_model.hpp"

#include "cli/checks.hpp"
#include "cli/command.hpp"

namespace drift {
namespace {

template <typename Value>
using Choices = std::map<std::string, Value>;

const Choices<MadePreset>& presets() {
  static const Choices<MadePreset> presets_by_name = {{"gpt2-small", MadePreset::kGpt2Small},
                                                      {"tiny", MadePreset::kTiny}};
  return presets_by_name;
}

const Choices<CheckpointFormat>& formats() {
  static const Choices<CheckpointFormat> formats_by_name = {
      {"safetensors", CheckpointFormat::kSafetensors},
      {"torch-zip", CheckpointFormat::kTorchZip},
      {"torch-legacy", CheckpointFormat::kTorchLegacy}};
  return formats_by_name;
}

const Choices<MadeDtype>& dtypes() {
  static const Choices<MadeDtype> dtypes_by_name = {{"float32", MadeDtype::kFloat32},
                                                    {"float16", MadeDtype::kFloat16},
                                                    {"bfloat16", MadeDtype::kBfloat16}};
  return dtypes_by_name;
}

template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const Choices<Value>& choices, const std::string& help) {
  return command.add_option(name, value, help)
      ->check(CLI::IsMember(&choices))
      ->capture_default_str();
}

struct FetchOptions {
  std::string model;
  bool quiet = false;
};

Status fetch(const FetchOptions& options) {
  const auto progress = progress_for(options.quiet);
  const std::filesystem::path folder = fetch_gpt2({}, *progress);
  fmt::print("{}  {}\n", options.model, folder.string());
  return Status::kDone;
}

void add_fetch(CLI::App& model, Action& action) {
  auto options = std::make_shared<FetchOptions>();
  CLI::App* command = model.add_subcommand("fetch", "fetch a model from the hub, once");
  command->add_option("MODEL", options->model, "gpt2")
      ->required()
      ->check(CLI::IsMember({std::string("gpt2")}));
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([options, &action] { action = [options] { return fetch(*options); }; });
}

struct MakeOptions {
  std::string preset = "gpt2-small";
  std::string format = "safetensors";
  std::string dtype = "float32";
  std::uint64_t seed = 1;
  std::string out;
  bool quiet = false;
};

Status make(const MakeOptions& options) {
  const auto progress = progress_for(options.quiet);
  make_model(options.out,
             {presets().at(options.preset), options.seed, formats().at(options.format),
              dtypes().at(options.dtype)},
             *progress);
  fmt::print("{}  {}\n", options.preset, options.out);
  return Status::kDone;
}

void add_make(CLI::App& model, Action& action) {
  auto options = std::make_shared<MakeOptions>();
  CLI::App* command = model.add_subcommand(
      "make", "make a checkpoint of noise, the same bytes on every machine, to measure with");
  add_choice(*command, "--preset", options->preset, presets(), "its sizes");
  command->add_option("--seed", options->seed, "of its noise")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  add_choice(*command, "--format", options->format, formats(), "of its weights file");
  add_choice(*command, "--dtype", options->dtype, dtypes(), "that its weights are stored as");
  command->add_option("--out", options->out, "the new folder")->required();
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([options, &action] { action = [options] { return make(*options); }; });
}

struct InfoOptions {
  std::string model = "auto";
  std::string output_head;
  bool offline = false;
  bool quiet = false;
};

Status info(const InfoOptions& options) {
  const auto progress = progress_for(options.quiet);
  ModelOptions model_options;
  model_options.offline = options.offline;
  model_options.head = head_choice(options.output_head);
  const Model model = open_model(options.model, model_options, *progress);
  const ModelConfig& config = model.config;
  fmt::print("model      {}{}\n", model.name,
             model.why.empty() ? std::string() : fmt::format(" ({})", model.why));
  fmt::print("sizes      {} layers, {} heads, width {}, inner width {}, context {}\n",
             config.n_layer, config.n_head, config.n_embd, config.n_inner, config.n_positions);
  fmt::print("parameters {}, stored as {}, output head {}\n", config.parameters(),
             model.source_dtype, config.tied ? "tied to the token embedding" : "of its own");
  fmt::print("vocabulary {} tokens{}\n", model.tokenizer.size(),
             config.end_of_text.empty()
                 ? std::string()
                 : fmt::format(", end of text {}", fmt::join(config.end_of_text, ", ")));
  if (const Error* none = model.tokenizer.why_none()) {
    fmt::print("tokenizer  none: {}\n", none->what());
  }
  for (const std::string& warning : model.warnings) {
    fmt::print("warning    {}\n", warning);
  }
  if (!model.other_heads.empty()) {
    fmt::print("left out   {}\n", fmt::join(model.other_heads, ", "));
  }
  fmt::print("source     {}\n", model.source.string());
  fmt::print("weights    {} ({})\n", model.weights.string(),
             format_bytes(std::filesystem::file_size(model.weights)));
  fmt::print("sha256     {}\n", model.digest);
  return Status::kDone;
}

void add_info(CLI::App& model, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = model.add_subcommand("info", "what a model is, and where its files are");
  command->add_option("MODEL", options->model, kModelChoices)->capture_default_str();
  command
      ->add_option("--output-head", options->output_head,
                   "tied: the token embedding; stored: the checkpoint's own (default: as "
                   "config.json says)")
      ->check(CLI::IsMember({"tied", "stored"}));
  command->add_flag("--offline", options->offline, "fetch nothing");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([options, &action] { action = [options] { return info(*options); }; });
}

}  // namespace

void add_model_command(CLI::App& app, Action& action) {
  CLI::App* model = app.add_subcommand("model", "fetch, make or describe a model");
  model->require_subcommand(1);
  add_fetch(*model, action);
  add_make(*model, action);
  add_info(*model, action);
}

}  // namespace drift
