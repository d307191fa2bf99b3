#include "driftaudit/build_prober.hpp"

#include <fmt/core.h>

#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"

#include "bisect/probe_store.hpp"

namespace drift {
namespace {

std::string part_key(const std::optional<BisectPart>& part) {
  return part ? fmt::format("{} {} {}", part->mode, part->prompt, part->steps) : "";
}

/// Tells one whole bisection from another.
std::string question_key(const std::vector<Candidate>& candidates, const Question& question,
                         const std::string& circumstances) {
  Sha256 digest;
  for (const Candidate& candidate : candidates) {
    digest.update(fmt::format("{}\n{}\n{}\n", candidate.label, candidate.side, candidate.identity));
  }
  digest.update(question.identity());
  digest.update(circumstances);
  return digest.hex().substr(0, 24);
}

void require_repeatable(const Report& report, const std::string& label) {
  for (const BuildRecord& build : report.builds) {
    if (build.repeatable == false) {
      throw trouble(label + ": doesn't repeat itself: its first prompt, run twice, gave other bits",
                    "--threads 1 may help");
    }
  }
}

}  // namespace

BuildProber::BuildProber(const std::vector<Candidate>& candidates, const Question& question,
                         BuildAccess access, const std::string& circumstances, Options options,
                         Progress& progress)
    : candidates_(candidates),
      question_(question),
      access_(std::move(access)),
      options_(options),
      progress_(progress),
      store_(std::make_unique<ProbeStore>(
          "bisect", question_key(candidates, question, circumstances), progress)) {
  store_->note_kept("answer", progress);
}

BuildProber::~BuildProber() = default;

std::string BuildProber::label(std::size_t candidate) const { return candidates_[candidate].label; }

bool BuildProber::probe(std::size_t candidate) {
  if (failures_.contains(candidate)) {
    return false;
  }
  last_asked_[candidate] = part_key(part_);
  const Candidate& build = candidates_[candidate];
  std::string name = build.label + "\n" + build.side + "\n" + build.identity;
  if (const auto failure = store_->failure(name)) {
    failures_.emplace(candidate, *failure);
    return false;
  }
  if (!build.identity.empty() && take_kept(candidate, name)) {
    return true;
  }
  try {
    ask_while_there(candidate, name);
  } catch (const Error& error) {
    if (error.is_interruption()) {
      throw;
    }
    throw_if_disk_full(error);
    return skip(candidate, name, error);
  }
  store_->keep_answer(name + "\n" + part_key(part_), present_answer(candidate));
  return true;
}

const Error& BuildProber::why_skipped(std::size_t candidate) const {
  return failures_.at(candidate);
}

bool BuildProber::same(std::size_t a, std::size_t b) {
  return question_.same(present_answer(a), present_answer(b), part_, store_->folder());
}

void BuildProber::ask_in_part(std::size_t a, std::size_t b) {
  part_.reset();
  part_ = question_.cheapest(present_answer(a), present_answer(b), store_->folder());
  last_part_ = part_;
}

void BuildProber::narrow(std::size_t low, std::size_t high) {
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (i != low && i != high) {
      give_back(i);
    }
  }
}

const Report* BuildProber::answer(std::size_t candidate) const {
  const Report* whole = find_answer(candidate, "");
  const auto last = last_asked_.find(candidate);
  return whole != nullptr || last == last_asked_.end() ? whole
                                                       : find_answer(candidate, last->second);
}

void BuildProber::end(bool done) {
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    give_back(i);
  }
  if (done) {
    store_->remove();
  }
}

const Report* BuildProber::find_answer(std::size_t candidate, const PartKey& key) const {
  const auto at = answers_.find({candidate, key});
  return at == answers_.end() ? nullptr : &at->second;
}

const Report& BuildProber::present_answer(std::size_t candidate) const {
  const Report* exact = find_answer(candidate, part_key(part_));
  return exact != nullptr ? *exact : answers_.at({candidate, ""});
}

void BuildProber::announce(std::size_t candidate) {
  const std::string what =
      part_ ? fmt::format("prompt {} ({}), {} step{}", part_->prompt, part_->mode, part_->steps,
                          part_->steps == 1 ? "" : "s")
            : "everything";
  progress_.note(fmt::format("{}: asking {}; at most {} probe{} left", label(candidate), what,
                             left_, left_ == 1 ? "" : "s"));
}

/// An answer to the present question that an earlier run has kept.
bool BuildProber::take_kept(std::size_t candidate, const std::string& name) {
  const PartKey key = part_key(part_);
  auto kept = store_->answer(name + "\n" + key);
  if (!kept) {
    return false;
  }
  answers_.insert_or_assign({candidate, key}, std::move(*kept));
  return true;
}

/// Asks again when the build was lost meanwhile: another bisection that had installed it may have
/// been done with it.
void BuildProber::ask_while_there(std::size_t candidate, std::string& name) {
  const Candidate& build = candidates_[candidate];
  const bool was_there = access_.is_installed(build);
  const std::string short_name = name;
  try {
    ask(candidate, name);
  } catch (const Error& error) {
    if (error.is_interruption() || !was_there || access_.is_installed(build)) {
      throw;
    }
    name = short_name;
    ask(candidate, name);
  }
}

/// Installs the build if need be and has it answer. The name of a build that isn't a release is
/// complete only once it is open: its folder may hold another build than last time.
void BuildProber::ask(std::size_t candidate, std::string& name) {
  const Candidate& build = candidates_[candidate];
  announce(candidate);
  if (!options_.keep && !access_.is_installed(build)) {
    store_->keep_owned(build.side);
  }
  const Side side = access_.open(build);
  if (build.identity.empty()) {
    name += side.build.libraries_digest;
    if (take_kept(candidate, name)) {
      return;
    }
  }
  Report report =
      question_.ask(side, part_, store_->logits(name + "\n" + part_key(part_)), progress_);
  require_repeatable(report, build.label);
  answers_.insert_or_assign({candidate, part_key(part_)}, std::move(report));
}

bool BuildProber::skip(std::size_t candidate, const std::string& name, const Error& error) {
  const bool end = candidate == 0 || candidate + 1 == candidates_.size();
  // An end that can't run ends the bisection, and a folder may be mended before the next run.
  if (!end && !candidates_[candidate].identity.empty()) {
    store_->keep_failure(name, error);
  }
  failures_.emplace(candidate, error);
  give_back(candidate);
  if (!end) {
    progress_.note(fmt::format("skipped: {}", error.what()));
  }
  return false;
}

void BuildProber::give_back(std::size_t candidate) {
  const Candidate& build = candidates_[candidate];
  if (options_.keep || !store_->owns(build.side)) {
    return;
  }
  if (access_.is_installed(build)) {
    access_.remove(build);
  }
  store_->drop_owned(build.side);
}

}  // namespace drift
