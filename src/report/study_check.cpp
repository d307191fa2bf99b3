#include "report/study_check.hpp"

#include <algorithm>
#include <optional>

namespace drift {
namespace {

/// Refuses indices that lead nowhere.
class IndexCheck {
 public:
  explicit IndexCheck(const Place& root) : study_(root, "study"), gaps_(study_, "gaps") {}

  const Place& study() const { return study_; }
  const Place& gaps() const { return gaps_; }

  void item(const Place& parent, const char* list, std::size_t i, const char* key,
            std::optional<std::uint64_t> index, std::size_t size) const {
    if (index && *index >= size) {
      const Place list_place(parent, list);
      throw Place(Place(list_place, i), key).error("there is none of that index");
    }
  }
  void single(const Place& parent, const char* key, std::uint64_t index, std::size_t size) const {
    if (index >= size) {
      throw Place(parent, key).error("there is none of that index");
    }
  }

 private:
  Place study_;
  Place gaps_;
};

void check_gaps(const IndexCheck& check, const Report& report) {
  const StudyGaps& gaps = report.study->gaps;
  for (std::size_t i = 0; i < gaps.runs.size(); ++i) {
    check.item(check.gaps(), "runs", i, "ran_as", gaps.runs[i].ran_as, report.builds.size());
    check.item(check.gaps(), "runs", i, "set", gaps.runs[i].set, gaps.distinct_sets);
  }
  if (gaps.smallest) {
    check.single(check.gaps(), "smallest", gaps.smallest->run, gaps.runs.size());
  }
  if (gaps.largest_change) {
    check.single(check.gaps(), "largest_change",
                 std::max(gaps.largest_change->a, gaps.largest_change->b), gaps.runs.size());
  }
  const StudyHistogram& histogram = gaps.histogram;
  for (std::size_t i = 0; i < histogram.bands.size(); ++i) {
    if (histogram.bands[i].counts.size() != histogram.edges.size() + 1) {
      const Place place(check.gaps(), "histogram");
      const Place bands(place, "bands");
      throw Place(Place(bands, i), "counts").error("not one more than there are edges");
    }
  }
}

}  // namespace

void check_study(const Place& root, const Report& report) {
  const StudyRecord& study = *report.study;
  const IndexCheck check(root);
  const std::size_t builds = report.builds.size();
  if (builds < 2) {
    throw Place(root, "builds").error("a study has two or more");
  }
  for (std::size_t i = 0; i < study.pairs.size(); ++i) {
    check.item(check.study(), "pairs", i, "a", study.pairs[i].a, builds);
    check.item(check.study(), "pairs", i, "b", study.pairs[i].b, builds);
  }
  for (std::size_t i = 0; i < study.range.size(); ++i) {
    check.item(check.study(), "range", i, "ran_as", study.range[i].ran_as, builds);
  }
  for (std::size_t i = 0; i < study.flips.size(); ++i) {
    check.item(check.study(), "flips", i, "a", study.flips[i].a, study.gaps.runs.size());
    check.item(check.study(), "flips", i, "b", study.flips[i].b, study.gaps.runs.size());
  }
  check_gaps(check, report);
}

}  // namespace drift
