// The places of a step's intermediate arrays in one piece of memory.
//
// Comes in: for each array, when it is alive and how many bytes it has. Goes out: its offset, such
// that no two arrays share a byte while both are alive, and how many bytes that takes.
// Never: a change of when anything is alive; nor chance, the same intervals get the same offsets.
#pragma once

#include <cstdint>
#include <span>

#include "brimstone.h"

namespace brimstone {

using Interval = brimstone_interval;

// Sets all offsets, to multiples of 64, and tells how many bytes all intervals take together. One
// of no bytes takes no room; its offset is 0. -1 if there is no number for so many bytes.
int64_t pack(std::span<Interval> intervals);

// The most bytes that are alive at one position: nothing can be packed into less.
int64_t peak(std::span<const Interval> intervals);

}  // namespace brimstone
