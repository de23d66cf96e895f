// Actions, one after the other.
//
// Comes in: a script, the addresses of the memory that it works on, its slots. Goes out: how many
// of its actions have been done.
// Never: an action before those that stand before it are done.
#pragma once

#include "brimstone.h"
#include "pool.hpp"

namespace brimstone {

int64_t run(Pool &pool, const brimstone_script &script, const uint64_t *addresses,
            uint64_t *slots) noexcept;

}  // namespace brimstone
