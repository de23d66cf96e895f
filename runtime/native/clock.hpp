// The clock: one that never goes back.
//
// Comes in: nothing. Goes out: the time, of which only differences have a meaning.
// Never: the time of day.
#pragma once

#include <chrono>
#include <cstdint>

namespace brimstone {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

inline int64_t nanoseconds(Time time) noexcept {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
}
inline int64_t now() noexcept { return nanoseconds(Clock::now()); }

// Who waits, or runs what takes long, looks so often whether somebody wants an end.
constexpr auto LOOKS_EVERY = std::chrono::milliseconds(20);

}  // namespace brimstone
