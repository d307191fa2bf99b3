#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driftaudit/question.hpp"

namespace drift {

/// One operation by itself on made-up inputs: rows of many lengths, of values that look random and
/// are the same everywhere. An answer has a run of one step for each length, whose logits are what
/// the operation gave; its mode is "operation" and its prompt counts the lengths. Answers are equal
/// when all bits are. Each build is asked twice, in two processes, for whether it repeats itself.
class OperationQuestion final : public Question {
 public:
  /// The operations that can be asked for: those of runner/operations.hpp.
  static const std::vector<std::string>& names();

  /// `name` is one of names().
  OperationQuestion(std::string name, double timeout_seconds)
      : name_(std::move(name)), timeout_seconds_(timeout_seconds) {}

  std::string identity() const override;
  Report ask(const Side& side, const std::optional<BisectPart>& part,
             const std::filesystem::path& logits, Progress& progress) const override;
  bool same(const Report& a, const Report& b, const std::optional<BisectPart>& part,
            const std::filesystem::path& folder) const override;
  BisectPart cheapest(const Report& a, const Report& b,
                      const std::filesystem::path& folder) const override;

 private:
  std::string name_;
  double timeout_seconds_;
};

}  // namespace drift
