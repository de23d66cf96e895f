// What was done when, for a profile.
//
// Comes in: while somebody records, an event for each action that was done, and for each call.
// Goes out: the events so far.
// Never: a cost while nobody records, but that of asking whether somebody does.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "brimstone.h"
#include "clock.hpp"

namespace brimstone {

bool recording() noexcept;
void record(bool wanted) noexcept;
size_t take_events(std::span<brimstone_event> events) noexcept;

// Nobody hands events over between the two, as it must be when a process forks.
void lock_events() noexcept;
void unlock_events() noexcept;

// Events of one thread, which are handed over many at a time.
class Notes {
  public:
    Notes() noexcept : is_wanted_(recording()), last_(is_wanted_ ? Clock::now() : Time()) {}
    ~Notes() { hand_over(); }
    Notes(const Notes &) = delete;
    Notes &operator=(const Notes &) = delete;

    // What has been done since the last note, or the first moment of these.
    void note(int64_t script, int64_t action) noexcept {
        if (is_wanted_) note_since(last_, script, action);
    }
    void note_since(Time begin, int64_t script, int64_t action) noexcept;

  private:
    void hand_over() noexcept;

    const bool is_wanted_;
    Time last_;
    size_t count_ = 0;
    std::array<brimstone_event, 32> events_;
};

}  // namespace brimstone
