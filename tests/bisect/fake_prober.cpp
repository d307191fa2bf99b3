#include "bisect/fake_prober.hpp"

#include <gtest/gtest.h>

namespace drift::test {

std::string FakeProber::label(std::size_t candidate) const {
  return "build " + std::to_string(candidate);
}

bool FakeProber::probe(std::size_t candidate) {
  EXPECT_TRUE(bracket_.first <= candidate && candidate <= bracket_.second)
      << "candidate " << candidate << " is out of the range that the search has narrowed to";
  probed_.push_back(candidate);
  const bool runs = answers_[candidate] != "-" && (part_ || answers_[candidate].back() != '!');
  if (!kept_.contains({candidate, part_})) {
    if (interrupted_ == made_) {
      throw Error(Status::kInterrupted, "interrupted");
    }
    ++made_;
    kept_.insert({candidate, part_});
  }
  return runs;
}

const Error& FakeProber::why_skipped(std::size_t) const {
  static const Error why = trouble("build: doesn't compile", "read the log");
  return why;
}

bool FakeProber::same(std::size_t a, std::size_t b) {
  for (const std::size_t candidate : {a, b}) {
    const bool answered =
        kept_.contains({candidate, part_}) || kept_.contains({candidate, std::nullopt});
    EXPECT_TRUE(answered) << "candidate " << candidate << " was not asked";
  }
  return answer(a) == answer(b);
}

void FakeProber::ask_in_part(std::size_t a, std::size_t b) {
  part_.reset();
  EXPECT_FALSE(same(a, b)) << "nothing separates equal answers";
  std::size_t letter = 0;
  while (answers_[a][letter] == answers_[b][letter]) {
    ++letter;
  }
  part_ = letter;
  parts_asked_.push_back(letter);
}

std::string FakeProber::answer(std::size_t candidate) const {
  const std::string& word = answers_[candidate];
  return part_ ? word.substr(*part_, 1) : word;
}

}  // namespace drift::test
