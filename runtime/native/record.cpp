#include "record.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>
#include <new>
#include <vector>

#include "memory.hpp"

namespace brimstone {
namespace {

// More than so many are not kept; a profile of so much could not be looked at.
constexpr size_t MOST = size_t{4} << 20;

std::atomic<bool> is_recording = false;
std::mutex &guard = *new std::mutex;
std::vector<brimstone_event> &events = *new std::vector<brimstone_event>;

// As Python numbers threads.
int64_t this_thread() noexcept { return std::bit_cast<int64_t>(pthread_self()); }

}  // namespace

void lock_events() noexcept { guard.lock(); }
void unlock_events() noexcept { guard.unlock(); }

bool recording() noexcept { return is_recording.load(std::memory_order_relaxed); }

void record(bool wanted) noexcept { is_recording.store(wanted); }

size_t take_events(std::span<brimstone_event> taken) noexcept {
    const std::lock_guard lock(guard);
    const size_t count = std::min(taken.size(), events.size());
    const auto first = events.end() - static_cast<std::ptrdiff_t>(count);
    std::copy(first, events.end(), taken.begin());
    events.erase(first, events.end());  // from the end, so that none has to move
    return count;
}

void Notes::note_since(Time begin, int64_t script, int64_t action) noexcept {
    last_ = Clock::now();
    const bool is_call = action < 0;
    const auto used = is_call ? static_cast<int64_t>(blocks().statistics().in_use) : 0;
    const int64_t from = nanoseconds(begin), to = nanoseconds(last_);
    events_[count_++] = {from, to, script, action, this_thread(), used};
    if (count_ == events_.size()) hand_over();
}

void Notes::hand_over() noexcept {
    if (count_ == 0) return;
    const std::lock_guard lock(guard);
    try {
        if (events.size() + count_ <= MOST)
            events.insert(events.end(), events_.begin(),
                          events_.begin() + static_cast<std::ptrdiff_t>(count_));
    } catch (const std::bad_alloc &) {
    }
    count_ = 0;
}

}  // namespace brimstone
