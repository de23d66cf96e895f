// Tasks: calls of programs, from when they are made to when they are done.
//
// Comes in: what a program has prepared. Goes out: arrays that are computed, or have failed.
// Never: a thread of its own; whoever has the time runs it, and may come back for the rest.
#pragma once

#include <span>
#include <vector>

#include "array.hpp"
#include "brimstone.h"
#include "clock.hpp"
#include "pool.hpp"

namespace brimstone {

class Program;

// A call of a program. Its slots are those of the call before, so that only what differs is set.
struct Task {
    Task(Program &called, size_t home);

    // Whether all that it is given is computed.
    bool can_begin() const noexcept;
    // Whether it is done, one way or the other; if not, it is to be run again.
    bool run(Pool &pool, Stream &stream, Time end) noexcept;
    // Whether somebody but this task holds a result.
    bool is_wanted() const noexcept;
    // Hold no more what it was given.
    void drop_inputs() noexcept;

    Program &program;
    const size_t home;  // of the threads that use it
    Task *next = nullptr;
    Array *arena = nullptr;
    brimstone_arrays *results = nullptr;
    Time asked;
    std::vector<brimstone_arrays *> pieces;
    std::vector<uint64_t> addresses, slots;

  private:
    bool inputs_are_ready(Stream &stream, Time end) noexcept;
    void begin() noexcept;
    void settle(State state) noexcept;
    // Where those of what is made stand, behind those of what it is given.
    std::span<uint64_t> made_addresses() noexcept;

    struct Copy {
        Array *to;
        const void *from;
    };

    std::vector<Array *> made_;      // at the end those that replace what the task is given
    std::vector<char> are_results_;  // which of these are
    std::vector<Copy> copies_;       // of what is replaced, and somebody else may still read
    int64_t position_ = 0;           // of the next action
    bool begun_ = false, failed_ = false;
    Failure failure_ = {};
    friend class Program;
};

}  // namespace brimstone
