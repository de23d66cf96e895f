// Launches of kernels, shared out to the threads of a pool if there is one.
//
// Comes in: launches, each cut into chunks of its grid, and their slots. Goes out: whether all
// programs have run; some have not where there was no memory for what kernels use while they run,
// and, which it does not say, once all are stopped.
// Never: such memory that two threads use at once.
#pragma once

#include <span>

#include "brimstone.h"
#include "pool.hpp"

namespace brimstone {

// Lets all launches end at their next chunk, which is not run any more. The thread that then goes
// on runs what it needs alone.
void stop() noexcept;
void go_on() noexcept;
bool is_stopped() noexcept;
bool stopping() noexcept;  // for this thread

bool run(Pool *pool, std::span<const brimstone_launch> launches, const uint64_t *slots) noexcept;

}  // namespace brimstone
