// Arithmetic on sizes that was written down once, done again for others.
//
// Comes in: a tape, and what sizes are. Goes out: the words of a record, such as a plan, as they
// were written down with it.
// Never: a number that is not exact; nor words where something does not hold that the tape says of
// its numbers: they were written down for sizes of which it holds.
#pragma once

#include "brimstone.h"

namespace brimstone {

// Whether all holds. Throws std::bad_alloc.
bool replay(const brimstone_tape &tape, const int64_t *given, int64_t *words);

}  // namespace brimstone
