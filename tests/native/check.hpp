// What the tests have in common.
//
// Comes in: whether something holds. Goes out: a line with the place of what does not, and the
// test's exit status.
// Never: an end of the test at the first failure.
#pragma once

#include <atomic>
#include <cstdio>
#include <source_location>

namespace brimstone {

inline std::atomic<int> failures = 0;

inline void check(bool holds,
                  std::source_location place = std::source_location::current()) noexcept {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s:%u: does not hold, in %s\n", place.file_name(), place.line(),
                 place.function_name());
}

inline int exit_status() { return failures == 0 ? 0 : 1; }

}  // namespace brimstone
