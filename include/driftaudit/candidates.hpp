#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/pin.hpp"

namespace drift {

/// One build of a range.
struct Candidate {
  std::string label;     ///< a release, a name, or a path as a command takes it from here
  std::string side;      ///< for open_build(): the release, or an absolute path
  std::string released;  ///< "2022-03-10", of releases; else empty
  std::string identity;  ///< of a release, the hash of its wheel; else empty: known once it is open
};

/// The pinned releases from `first` to `last`, both named by release or pin's name, by version.
/// Errors (usage): no such release, `first` is not before `last`.
std::vector<Candidate> release_candidates(const std::vector<Pin>& pins, const std::string& first,
                                          const std::string& last);

/// The builds of a list file from `first` to `last`; empty names stand for the list's ends. One
/// build a line: a release, a pin's name, a wheel file or a folder, the latter two relative to the
/// list's own folder. Spaces around it, blank lines and lines that begin with `#` are passed over,
/// CRLF is taken. Whether a build is there is known when it is asked. Errors (usage) name the file
/// and the line: a build twice, fewer than two, not text, `first` or `last` not in the list or in
/// the wrong order.
std::vector<Candidate> listed_candidates(const std::filesystem::path& file,
                                         const std::vector<Pin>& pins, const std::string& first,
                                         const std::string& last);

}  // namespace drift
