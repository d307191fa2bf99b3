#include "report/study_check.hpp"

#include <algorithm>
#include <optional>

namespace drift {
namespace {

void require_single(const Place& parent, const char* key, std::uint64_t index, std::size_t size) {
  if (index >= size) {
    throw Place(parent, key).error("there is none of that index");
  }
}

void check_gaps(const Place& place, const Report& report) {
  const StudyGaps& gaps = report.study->gaps;
  for (std::size_t i = 0; i < gaps.runs.size(); ++i) {
    require_index(place, "runs", i, "ran_as", gaps.runs[i].ran_as, report.builds.size());
    require_index(place, "runs", i, "set", gaps.runs[i].set, gaps.distinct_sets);
  }
  if (gaps.smallest) {
    require_single(place, "smallest", gaps.smallest->run, gaps.runs.size());
  }
  if (gaps.largest_change) {
    require_single(place, "largest_change",
                   std::max(gaps.largest_change->a, gaps.largest_change->b), gaps.runs.size());
  }
  const StudyHistogram& histogram = gaps.histogram;
  for (std::size_t i = 0; i < histogram.bands.size(); ++i) {
    if (histogram.bands[i].counts.size() != histogram.edges.size() + 1) {
      const Place histogram_place(place, "histogram");
      const Place bands(histogram_place, "bands");
      throw Place(Place(bands, i), "counts").error("not one more than there are edges");
    }
  }
}

}  // namespace

void check_study(const Place& root, const Report& report) {
  const StudyRecord& study = *report.study;
  const Place place(root, "study");
  const std::size_t builds = report.builds.size();
  if (builds < 2) {
    throw Place(root, "builds").error("a study has two or more");
  }
  for (std::size_t i = 0; i < study.pairs.size(); ++i) {
    require_index(place, "pairs", i, "a", study.pairs[i].a, builds);
    require_index(place, "pairs", i, "b", study.pairs[i].b, builds);
  }
  for (std::size_t i = 0; i < study.range.size(); ++i) {
    require_index(place, "range", i, "ran_as", study.range[i].ran_as, builds);
  }
  for (std::size_t i = 0; i < study.flips.size(); ++i) {
    require_index(place, "flips", i, "a", study.flips[i].a, study.gaps.runs.size());
    require_index(place, "flips", i, "b", study.flips[i].b, study.gaps.runs.size());
  }
  check_gaps(Place(place, "gaps"), report);
}

}  // namespace drift
