#pragma once

#include <string>

#include "driftaudit/report.hpp"

namespace drift {

/// A step that chose `token` over the next id by `gap`.
Step made_step(std::int32_t token, float logit, double gap);

/// Model, host, settings and two builds of a report.
void fill_head(Report& report);

/// January against December on mini: two prompts in two modes; prompt 2 changes its text under
/// sampling at step 2. Every optional key is there at least once, and every kind of number.
Report made_report();

/// One prompt of greedy, three steps, nothing changed.
Report identical_report();

/// A saved side against another of which only kept logits were compared, with gates, warnings and a
/// logits file.
Report kept_report();

/// A text scored by both sides.
Report scored_report();

/// Seven releases: two boundaries, of which one is proved, one release skipped, one assumed.
Report bisect_report();

/// Softmax changed by itself in both of two blocks, found at step 2; one operation isn't
/// replayable.
Report localize_report();

/// softmax of two releases: other orders at 4 elements, the same at 2, unproved on one side at 5,
/// not told at 6.
Report reveal_report();

/// Five cells of two knobs, of which one moved a token; one isn't repeatable, one failed; a third
/// knob has no pair.
Report sweep_report();

/// Four requests of four tokens: the second answers the third from step 2 on, where two of its
/// tokens are wrong, the last has a NaN at its end.
Report rescore_report();

/// A study of three builds, of which the one between was left out; sampled text too.
Report study_report();

}  // namespace drift
