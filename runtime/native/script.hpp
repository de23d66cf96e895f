// Actions, one after the other, or again and again.
//
// Comes in: a script, the addresses of the memory that it works on, its slots, the action to begin
// with, and when to come back. Goes out: the action to go on with, or -1 if one could not be
// done, and why; all actions count as done when nobody wants to know any more.
// Never: an action before those that come before it are done. Where a loop is, its slots say, so
// that a script that was left in the middle of one goes on there.
#pragma once

#include "array.hpp"
#include "brimstone.h"
#include "clock.hpp"
#include "pool.hpp"

namespace brimstone {

// Asked now and then; if the answer is no, nothing more is done.
using Wanted = bool (*)(const void *context);

int64_t run(Pool &pool, const brimstone_script &script, const uint64_t *addresses, uint64_t *slots,
            int64_t begin, Time end, Wanted wanted, const void *context,
            Failure &failure) noexcept;

}  // namespace brimstone
