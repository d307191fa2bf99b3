#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driftaudit/bisection.hpp"
#include "driftaudit/candidates.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/question.hpp"

namespace drift {

class ProbeStore;

/// How builds are got at and given back.
struct BuildAccess {
  std::function<Side(const Candidate&)> open;  ///< installed, its runner compiled
  std::function<bool(const Candidate&)> is_installed;
  std::function<void(const Candidate&)> remove;  ///< from the cache
};

/// Asks real builds. Each is installed when it is asked; what wasn't there before is removed once
/// the search has passed it, so that no more than three are on disk: the two that the search has
/// come down to and the one that is asked. Answers are kept until the bisection is done: one that
/// was interrupted, even killed, goes on where it was. A build that can't be fetched, compiled or
/// run, or that doesn't repeat itself, is skipped; an interruption is not taken for that.
class BuildProber final : public Prober {
 public:
  struct Options {
    bool keep = false;  ///< leave what was installed
  };

  /// `circumstances`: what answers depend on besides the question and the builds (variables,
  /// threads, the runner's sources, the machine), as text. All references outlive the prober.
  BuildProber(const std::vector<Candidate>& candidates, const Question& question,
              BuildAccess access, const std::string& circumstances, Options options,
              Progress& progress);
  ~BuildProber() override;

  std::string label(std::size_t candidate) const override;
  bool probe(std::size_t candidate) override;
  const Error& why_skipped(std::size_t candidate) const override;
  bool same(std::size_t a, std::size_t b) override;
  void ask_in_full() override { part_.reset(); }
  void ask_in_part(std::size_t a, std::size_t b) override;
  void expect(std::size_t left) override { left_ = left; }
  void narrow(std::size_t low, std::size_t high) override;

  /// The candidate's answer to all, else to the last part that it was asked; or null.
  const Report* answer(std::size_t candidate) const;
  /// The last part that was asked for.
  const std::optional<BisectPart>& part() const { return last_part_; }
  /// Removes the builds that it installed; `done` also removes the answers.
  void end(bool done);

 private:
  /// Of which question an answer is; empty: all of it.
  using PartKey = std::string;

  const Report* find_answer(std::size_t candidate, const PartKey& key) const;
  const Report& present_answer(std::size_t candidate) const;
  void announce(std::size_t candidate);
  bool take_kept(std::size_t candidate, const std::string& name);
  void ask_while_there(std::size_t candidate, std::string& name);
  void ask(std::size_t candidate, std::string& name);
  bool skip(std::size_t candidate, const std::string& name, const Error& error);
  void give_back(std::size_t candidate);

  const std::vector<Candidate>& candidates_;
  const Question& question_;
  BuildAccess access_;
  Options options_;
  Progress& progress_;
  std::unique_ptr<ProbeStore> store_;
  std::optional<BisectPart> part_;  ///< the present question; null: all of it
  std::optional<BisectPart> last_part_;
  std::size_t left_ = 0;
  std::map<std::pair<std::size_t, PartKey>, Report> answers_;
  std::map<std::size_t, PartKey> last_asked_;
  std::map<std::size_t, Error> failures_;
};

}  // namespace drift
