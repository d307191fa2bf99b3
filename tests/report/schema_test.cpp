#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "driftaudit/report.hpp"

#include "report/made_report.hpp"

namespace drift {
namespace {

using nlohmann::json;

class ReportSchema : public ::testing::Test {
 protected:
  ReportSchema() {
    const json document =
        json::parse(std::ifstream(DRIFTAUDIT_SOURCE_FOLDER "/src/report/driftaudit-1.schema.json"));
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
  }

  bool accepts(const json& report) {
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(report), nullptr);
  }

  valijson::Schema schema_;
};

TEST_F(ReportSchema, AcceptsWhatIsWritten) {
  EXPECT_TRUE(accepts(json::parse(report_json(made_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(identical_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(scored_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(bisect_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(reveal_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(sweep_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(rescore_report()))));
  Report ruled = rescore_report();
  ruled.rescore->rule = RescoreRule{{.temperature = 0.7}, false, 8, 16, 1e-6, 2e-6};
  EXPECT_TRUE(accepts(json::parse(report_json(ruled))));
  EXPECT_TRUE(accepts(json::parse(report_json(study_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(kept_report()))));
  EXPECT_TRUE(accepts(json::parse(report_json(localize_report()))));
  Report with_orders = localize_report();
  with_orders.reveal = reveal_report().reveal;
  EXPECT_TRUE(accepts(json::parse(report_json(with_orders))));
  Report in_batches = made_report();
  in_batches.settings.batch = 4;
  EXPECT_TRUE(accepts(json::parse(report_json(in_batches))));
  Report other_head = made_report();
  other_head.model.output_head = "stored";
  other_head.model.output_head_asked = true;
  other_head.model.head_differing = 80;
  other_head.model.warnings = {"the head differs"};
  EXPECT_TRUE(accepts(json::parse(report_json(other_head))));
}

TEST_F(ReportSchema, KnowsTheKeysOfAttention) {
  Report report = identical_report();
  report.builds[0].attention = {Attention::kSdpa, ScoreScale::kDivide, "auto: why", "4.57.1"};
  report.builds[1].attention = {Attention::kEager, ScoreScale::kMultiply, {}, {}};
  const json document = json::parse(report_json(report));
  EXPECT_TRUE(accepts(document));
  EXPECT_TRUE(document["builds"][0].contains("transformers"));
  for (const auto& [pointer, value] :
       {std::pair("/builds/0/attention", json("flash")), std::pair("/builds/0/attention", json(1)),
        std::pair("/builds/1/score_scale", json("halve")),
        std::pair("/builds/0/attention_choice", json(nullptr)),
        std::pair("/builds/0/transformers", json(4.57))}) {
    json mutant = document;
    ASSERT_TRUE(mutant.contains(json::json_pointer(pointer))) << pointer;
    mutant[json::json_pointer(pointer)] = value;
    EXPECT_FALSE(accepts(mutant)) << pointer;
  }
}

TEST_F(ReportSchema, AcceptsReportsOfBefore) {
  EXPECT_TRUE(accepts(
      json::parse(std::ifstream(DRIFTAUDIT_SOURCE_FOLDER "/tests/report/data/audit-1.json"))));
}

/// Whether a key may be left out.
bool optional_key(const std::string& key) {
  for (const char* name : {"draw_digest",
                           "fed",
                           "non_finite",
                           "perplexity_a",
                           "perplexity_b",
                           "kl_percentiles",
                           "top1_agreement",
                           "checksum",
                           "recorded",
                           "steps_on_kept",
                           "gap_changes_unknown",
                           "warnings",
                           "gates",
                           "logits",
                           "memory_budget",
                           "blas_dispatch",
                           "pairs_kernels",
                           "other_kernels",
                           "batch",
                           "rescored",
                           "failures",
                           "step_period",
                           "request_id",
                           "alone",
                           "answers",
                           "ties",
                           "interop_threads",
                           "memory_limit_bytes",
                           "alignment",
                           "flush_denormals",
                           "doubtful_settings",
                           "peak_address_bytes",
                           "idle",
                           "notes",
                           "sampled",
                           "own_change",
                           "noise",
                           "own",
                           "basis"}) {
    if (key == name) {
      return true;
    }
  }
  return false;
}

/// Whether an object's keys are ids or names of the person's own.
bool open_object(const std::string& pointer) {
  return pointer.ends_with("/knobs") || pointer == "/tokens" || pointer.ends_with("/by_mode");
}

/// Pointers of all values in a document.
void collect(const json& value, const std::string& pointer, std::vector<std::string>& pointers) {
  if (!pointer.empty()) {
    pointers.push_back(pointer);
  }
  if (value.is_structured()) {
    for (const auto& [key, item] : value.items()) {
      std::string below = pointer;
      below.append("/").append(key);
      collect(item, below, pointers);
    }
  }
}

std::vector<std::string> pointers_of(const json& document) {
  std::vector<std::string> pointers;
  collect(document, "", pointers);
  return pointers;
}

TEST_F(ReportSchema, RefusesEveryMissingKey) {
  std::size_t tried = 0;
  for (const Report& report :
       {made_report(), scored_report(), kept_report(), bisect_report(), localize_report(),
        reveal_report(), sweep_report(), rescore_report(), study_report()}) {
    const json document = json::parse(report_json(report));
    for (const std::string& text : pointers_of(document)) {
      const json::json_pointer pointer(text);
      const bool step_count = text.ends_with("/non_finite") &&
                              (text.starts_with("/runs/") || text.starts_with("/localize/"));
      if (!document.at(pointer.parent_pointer()).is_object() ||
          open_object(pointer.parent_pointer().to_string()) ||
          (optional_key(pointer.back()) && (step_count || pointer.back() != "non_finite"))) {
        continue;
      }
      json mutant = document;
      mutant.at(pointer.parent_pointer()).erase(pointer.back());
      EXPECT_FALSE(accepts(mutant)) << "without " << text;
      ++tried;
    }
  }
  EXPECT_GT(tried, 300U);
}

TEST_F(ReportSchema, RefusesEveryValueOfAnotherType) {
  std::size_t tried = 0;
  for (const Report& report :
       {made_report(), scored_report(), kept_report(), bisect_report(), localize_report(),
        reveal_report(), sweep_report(), rescore_report(), study_report()}) {
    const json document = json::parse(report_json(report));
    for (const std::string& text : pointers_of(document)) {
      json mutant = document;
      json& value = mutant[json::json_pointer(text)];
      value = value.is_array() ? json("text") : json::array({json::object()});
      EXPECT_FALSE(accepts(mutant)) << "another type at " << text;
      ++tried;
    }
  }
  EXPECT_GT(tried, 300U);
}

TEST_F(ReportSchema, RefusesUnknownKeysInEveryObject) {
  const json document = json::parse(report_json(scored_report()));
  for (const std::string& text : pointers_of(document)) {
    const json::json_pointer pointer(text);
    if (document.at(pointer).is_object() && !text.ends_with("/knobs")) {
      json mutant = document;
      mutant[pointer]["surprise"] = 1;
      EXPECT_FALSE(accepts(mutant)) << "surprise in " << text;
    }
  }
  json mutant = document;
  mutant["surprise"] = 1;
  EXPECT_FALSE(accepts(mutant));
}

TEST_F(ReportSchema, RefusesValuesOutOfTheirRange) {
  const auto refuses = [&](const char* pointer, const json& value) {
    json mutant = json::parse(report_json(made_report()));
    EXPECT_TRUE(mutant.contains(json::json_pointer(pointer))) << pointer;
    mutant[json::json_pointer(pointer)] = value;
    return !accepts(mutant);
  };
  EXPECT_TRUE(refuses("/schema", "driftaudit/2"));
  EXPECT_TRUE(refuses("/kind", "bisection"));
  EXPECT_TRUE(refuses("/runs/0/mode", "beam"));
  EXPECT_TRUE(refuses("/runs/0/prompt", 0));
  EXPECT_TRUE(refuses("/runs/0/stopped", "tired"));
  EXPECT_TRUE(refuses("/runs/0/steps/0/token", -1));
  EXPECT_TRUE(refuses("/runs/0/steps/0/token", 1.5));
  EXPECT_TRUE(refuses("/runs/0/steps/0/logit", "infinite"));
  EXPECT_TRUE(refuses("/runs/0/steps/0/top", json::array()));
  EXPECT_TRUE(refuses("/runs/0/steps/0/top/0", json::array({1})));
  EXPECT_TRUE(refuses("/runs/0/steps/0/top/0", json::array({1, 2, 3})));
  EXPECT_TRUE(refuses("/runs/0/steps/0/digest", "abc"));
  EXPECT_TRUE(refuses("/runs/4/steps/0/draw_digest", "ABCDEF0123456789"));
  EXPECT_TRUE(refuses("/comparison/basis", "top"));
  EXPECT_TRUE(refuses("/comparison/prompts/0/token_change_cause", "luck"));
  EXPECT_TRUE(refuses("/summary/verdict", "fine"));
  EXPECT_TRUE(refuses("/summary/smallest_gap/side", "C"));
}

}  // namespace
}  // namespace drift
