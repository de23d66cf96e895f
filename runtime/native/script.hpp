// Actions, one after the other.
//
// Comes in: a script, the addresses of the memory that it works on, its slots, the action to begin
// with. Goes out: the action to go on with, or -1 less the one that had no memory.
// Never: an action before those that stand before it are done.
#pragma once

#include "brimstone.h"
#include "pool.hpp"

namespace brimstone {

int64_t run(Pool &pool, const brimstone_script &script, const uint64_t *addresses, uint64_t *slots,
            int64_t begin) noexcept;

}  // namespace brimstone
