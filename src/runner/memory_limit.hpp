#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace drift::runner {

/// Limits the process's private writable memory (RLIMIT_DATA) to so many bytes; 0: no limit. Throws
/// std::runtime_error: it holds more than that already, or the system refuses.
void limit_memory(std::uint64_t bytes);

/// Lifts the limit, so that there is memory to say what went wrong. Gives what it was; 0: none.
std::uint64_t lift_memory_limit();

/// An entry of /proc/self/status (proc(5)) that counts memory: "VmData:", "VmPeak:"; 0: there is
/// none.
std::uint64_t status_bytes(const std::string& key);

/// What to put before the words of std::bad_alloc, or of what torch's allocator throws:
/// "out of memory within the limit of 300 MB: "; empty for any other error.
std::string out_of_memory(const std::exception& error, std::uint64_t limit);

}  // namespace drift::runner
