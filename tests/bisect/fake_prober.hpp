#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driftaudit/bisection.hpp"

namespace drift::test {

/// Answers of candidates as words: the whole question is the word, its parts are single letters,
/// the first the cheapest. "-" can't be run; "ab!" can't answer the whole.
class FakeProber : public Prober {
 public:
  explicit FakeProber(std::vector<std::string> answers) : answers_(std::move(answers)) {}

  std::string label(std::size_t candidate) const override;
  bool probe(std::size_t candidate) override;
  const Error& why_skipped(std::size_t candidate) const override;
  bool same(std::size_t a, std::size_t b) override;
  void ask_in_full() override { part_.reset(); }
  void ask_in_part(std::size_t a, std::size_t b) override;
  void expect(std::size_t left) override { bounds_.push_back(left); }
  void narrow(std::size_t low, std::size_t high) override { bracket_ = {low, high}; }

  std::size_t count() const { return answers_.size(); }
  /// Candidates in the order in which they were probed.
  const std::vector<std::size_t>& probed() const { return probed_; }
  /// What expect() was told before each of them.
  const std::vector<std::size_t>& bounds() const { return bounds_; }
  const std::vector<std::size_t>& parts_asked() const { return parts_asked_; }

  /// The probe with this number, from 0, is interrupted before its answer is kept.
  void interrupt_at(std::size_t probe) { interrupted_ = probe; }
  /// Answers that an earlier, interrupted search has kept: they cost nothing.
  void resume(const FakeProber& earlier) { kept_ = earlier.kept_; }
  /// Answers that had to be made.
  std::size_t made() const { return made_; }

 private:
  using Question = std::optional<std::size_t>;  ///< the letter, or the whole word

  std::string answer(std::size_t candidate) const;

  std::vector<std::string> answers_;
  Question part_;
  std::vector<std::size_t> probed_;
  std::vector<std::size_t> bounds_;
  std::vector<std::size_t> parts_asked_;
  std::pair<std::size_t, std::size_t> bracket_{0, static_cast<std::size_t>(-1)};
  std::set<std::pair<std::size_t, Question>> kept_;
  std::optional<std::size_t> interrupted_;
  std::size_t made_ = 0;
};

}  // namespace drift::test
