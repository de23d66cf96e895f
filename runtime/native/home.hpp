// Homes of threads, in which lies what they may use again: memory, tasks, arrays to be dropped.
//
// Comes in: threads, each with a number. Goes out: for each one of a few homes.
// Never: a home without a lock; several threads may have one, and any may look into another's.
//
// What another core has written, be it a lock or a counter, must come from that one's caches, which
// takes as long as a hundred additions. So threads that have nothing to do with each other are to
// write nothing that both of them look at.
#pragma once

#include <cstddef>

namespace brimstone {

constexpr size_t HOMES = 8;
// What one thread writes lies so far from what others do: caches fetch lines in pairs.
constexpr size_t APART = 128;

inline thread_local constinit size_t home_of_this_thread = 0;

// Threads of one number have one home; it is the first one's until they say so.
inline void settle_down(size_t number) noexcept { home_of_this_thread = number % HOMES; }
inline size_t own_home() noexcept { return home_of_this_thread; }

}  // namespace brimstone
