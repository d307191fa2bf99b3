#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "driftaudit/audit.hpp"
#include "driftaudit/bisect_record.hpp"
#include "driftaudit/logits_file.hpp"
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
  /// Has a build answer all of it or a part. `logits` is where the answer's logits may lie, in the
  /// folder of all answers. Errors (trouble): the runner failed.
  virtual Report ask(const Side& side, const std::optional<BisectPart>& part,
                     const std::filesystem::path& logits, Progress& progress) const = 0;
  /// Whether two answers are equal in all, or in a part, to which either may be the answer alone.
  /// `folder`: of all answers.
  virtual bool same(const Report& a, const Report& b, const std::optional<BisectPart>& part,
                    const std::filesystem::path& folder) const = 0;
  /// The cheapest part in which two answers to all of it differ.
  virtual BisectPart cheapest(const Report& a, const Report& b,
                              const std::filesystem::path& folder) const = 0;
};

/// The model's answers to the prompts: what an audit runs.
class ModelQuestion final : public Question {
 public:
  /// `request` has no sides; both references outlive the question.
  ModelQuestion(const AuditRequest& request, const Model& model, const Measure& measure)
      : request_(request), model_(model), measure_(measure) {}

  std::string identity() const override;
  Report ask(const Side& side, const std::optional<BisectPart>& part,
             const std::filesystem::path& logits, Progress& progress) const override;
  bool same(const Report& a, const Report& b, const std::optional<BisectPart>& part,
            const std::filesystem::path& folder) const override;
  BisectPart cheapest(const Report& a, const Report& b,
                      const std::filesystem::path& folder) const override;

 private:
  Answer answer_of(const Report& report, const std::filesystem::path& folder) const;

  const AuditRequest& request_;
  const Model& model_;
  Measure measure_;
  /// Open ones by name: opening one reads all of it.
  mutable std::map<std::string, std::shared_ptr<const LogitsFile>> logits_files_;
};

}  // namespace drift
