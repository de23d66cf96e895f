// How much memory there is: what the system says that this process may still have.
//
// Comes in: the files in which Linux says so, of the machine, of the control groups (version 2, or
// 1) that a container is, and of the limits of this process (`ulimit -v`). Goes out: bytes. Where
// the system does not say, there is no end of it.
// Never: a guess at what somebody will need. What the system would give back when asked for memory,
// such as pages of files that are read, counts as left.
#pragma once

#include <cstdint>

namespace brimstone {

// So many bytes are left of the total; and so many could be swapped out.
struct Room {
    int64_t left = INT64_MAX;
    int64_t total = INT64_MAX;
    int64_t swap = 0;

    // What may be asked for.
    int64_t most() const noexcept { return left > INT64_MAX - swap ? INT64_MAX : left + swap; }
};

// What the files below a folder say.
Room look(const char *root) noexcept;
Room look_at_system() noexcept;

}  // namespace brimstone
