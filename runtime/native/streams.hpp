// All streams of the process.
//
// Comes in: threads that begin to ask, and those that will not ask any more. Goes out: a stream for
// each, a new one or one that another thread has let go of.
// Never: a fork while something is left to do on one of them, or while any is locked.
#pragma once

#include "pool.hpp"

namespace brimstone {

class Stream;

// A stream that nobody else has; a null pointer if there is no memory.
Stream *open_stream(Pool &pool) noexcept;
void close_stream(Stream *stream) noexcept;
// Nothing is run any more once this returns, but what this very thread waits for.
void end_streams() noexcept;

}  // namespace brimstone
