// Arrays that nobody has any more, until somebody drops them.
//
// Comes in: arrays, from threads that are not to be kept by dropping them. Goes out: the same, for
// whoever comes next of the same home, as the thread itself mostly is, and has the time.
// Never: more than some megabyte of a home's, as their owners count: those that have been given
// away count as nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "brimstone.h"

namespace brimstone {

// Leave arrays to whoever comes next, from which so many bytes are likely to be had back; false if
// that would be too many with those that are left, or there is no memory to say so.
bool leave_to_next(brimstone_arrays *arrays, int64_t bytes) noexcept;
// Put those that are left in this thread's home before others; how many they are.
size_t take_gone(std::vector<brimstone_arrays *> &before);
// Drop all that are left, in whatever home.
void drop_gone() noexcept;

}  // namespace brimstone
