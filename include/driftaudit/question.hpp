#pragma once

#include <optional>
#include <string>

#include "driftaudit/audit.hpp"
#include "driftaudit/bisect_record.hpp"
#include "driftaudit/measure.hpp"
#include "driftaudit/model.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// What a bisection has each build do, and by what two answers count as equal.
class Question {
 public:
  virtual ~Question() = default;

  /// Everything that an answer depends on besides the build and the machine, as text.
  virtual std::string identity() const = 0;
  /// Has a build answer all of it or a part. Errors (trouble): the runner failed.
  virtual Report ask(const Side& side, const std::optional<BisectPart>& part,
                     Progress& progress) const = 0;
  /// Whether two answers are equal in all, or in a part, to which either may be the answer alone.
  virtual bool same(const Report& a, const Report& b,
                    const std::optional<BisectPart>& part) const = 0;
  /// The cheapest part in which two answers to all of it differ.
  virtual BisectPart cheapest(const Report& a, const Report& b) const = 0;
};

/// The model's answers to the prompts: what an audit runs.
class ModelQuestion final : public Question {
 public:
  /// `request` has no sides; both references outlive the question.
  ModelQuestion(const AuditRequest& request, const Model& model, const Measure& measure)
      : request_(request), model_(model), measure_(measure) {}

  std::string identity() const override;
  Report ask(const Side& side, const std::optional<BisectPart>& part,
             Progress& progress) const override;
  bool same(const Report& a, const Report& b, const std::optional<BisectPart>& part) const override;
  BisectPart cheapest(const Report& a, const Report& b) const override;

 private:
  Answer answer_of(const Report& report) const;

  const AuditRequest& request_;
  const Model& model_;
  Measure measure_;
};

}  // namespace drift
