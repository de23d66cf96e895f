// How long threads spin before they sleep.
//
// Comes in: how long they had to wait, and to be woken took; and when somebody else had the core of
// one. Goes out: for how long to spin. All in nanoseconds.
// Never: a look at a clock.
//
// Who spins longer than he must takes the core from threads that have work whenever there are fewer
// free cores than threads; who sleeps is late for the next job by the time it takes to wake him.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace brimstone {

// What a thread does that spins.
inline void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class Patience {
  public:
    // Who comes so late has had no core meanwhile.
    static constexpr int64_t HELD_UP = 100'000;

    // Who waits for others to come to their end: as long as it takes to be woken.
    int64_t for_helpers() const noexcept { return waking_.load(std::memory_order_relaxed); }
    // Who waits for the next job: twice as long as he had to of late. Where somebody else wants the
    // cores, no longer than the others.
    int64_t for_jobs(int64_t now) const noexcept {
        const bool is_wary = now < wary_until_.load(std::memory_order_relaxed);
        return is_wary ? for_helpers() : patience_.load(std::memory_order_relaxed);
    }

    void was_woken(int64_t took) noexcept {
        const int64_t before = waking_.load(std::memory_order_relaxed);
        waking_.store(before + (std::clamp(took, LEAST, WAKING_AT_MOST) - before) / 4,
                      std::memory_order_relaxed);
    }
    // Of several times in turn the longest counts, until it has not been so long for a while.
    void waited(int64_t time) noexcept {
        const int64_t before = patience_.load(std::memory_order_relaxed);
        const int64_t wanted = time > AT_MOST ? LEAST : std::clamp(2 * time, LEAST, AT_MOST);
        patience_.store(wanted > before ? wanted : before - (before - wanted) / 8,
                        std::memory_order_relaxed);
    }
    void be_wary(int64_t now) noexcept {
        wary_until_.store(now + WARY, std::memory_order_relaxed);
    }

  private:
    // To wake a thread takes a few microseconds, or some tens where a virtual machine gives its
    // idle cores back.
    static constexpr int64_t LEAST = 5'000, WAKING_AT_MOST = 50'000, AT_MOST = 150'000;
    static constexpr int64_t WARY = 30'000'000;
    std::atomic<int64_t> waking_ = LEAST, patience_ = LEAST, wary_until_ = 0;
};

}  // namespace brimstone
