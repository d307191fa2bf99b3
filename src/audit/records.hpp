#pragma once

#include <string>

#include "driftaudit/audit.hpp"

namespace drift {

/// What a report says of a side before it has run, and of its model.
BuildRecord build_record(const Side& side);
ModelRecord model_record(const Model& model);

/// Adds what its runner says of itself.
void record_facts(const RunnerFacts& facts, BuildRecord& record);

/// The bytes of every id that the report's runs mention, from the tokenizer (null: there is none)
/// and the reports of saved sides.
std::map<std::int32_t, std::string> used_tokens(const Report& report, const AuditRequest& request,
                                                const Tokenizer* tokenizer);

}  // namespace drift
