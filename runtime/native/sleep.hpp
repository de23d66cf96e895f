// Threads that sleep until a counter is another one.
//
// Comes in: a counter, what it is, and how long to wait. Goes out: whether it has changed.
// Never: a turn that is given away. Before it sleeps, `std::atomic::wait` of GCC's library offers
// its core to others a few times (`sched_yield`). A program that spins takes it, and keeps it for a
// whole turn, milliseconds, although the counter changes after microseconds; who sleeps is woken
// then.
#pragma once

#include <atomic>
#include <cstdint>

namespace brimstone {

using Counter = std::atomic<uint32_t>;

// For ever, or for so many nanoseconds at least, where the system can do that.
bool sleep_while(const Counter &counter, uint32_t value, int64_t time = INT64_MAX) noexcept;
void wake_one(Counter &counter) noexcept;
void wake_all(Counter &counter) noexcept;

}  // namespace brimstone
