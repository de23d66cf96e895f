// How soon somebody wants what he asks for.
//
// Comes in: when he wanted it. Goes out: whether he will want the next one at once.
// Never: a look at a clock.
#pragma once

#include <algorithm>
#include <atomic>

namespace brimstone {

class Haste {
  public:
    // Whether he wants results at once, as he did not long ago: that he is late once may be because
    // he had to wait for a core. Of what is called for the first time, a guess.
    bool awaits(bool guess = false) const noexcept {
        const int score = score_.load(std::memory_order_relaxed);
        return score == UNKNOWN ? guess : score >= LATE_ONCE;
    }
    // Whether he has wanted several in turn at once.
    bool surely_awaits() const noexcept {
        return score_.load(std::memory_order_relaxed) == SURE;
    }

    void wanted(bool at_once) noexcept {
        const int score = score_.load(std::memory_order_relaxed);
        const int later = score > LATE_ONCE ? LATE_ONCE : GOES_ON;
        const int sooner = std::min(std::max(score, LATE_ONCE) + 1, SURE);
        become(at_once ? sooner : later);
    }
    void went_on_without() noexcept { become(GOES_ON); }

  private:
    // What it is already is not written: other threads look at it.
    void become(int score) noexcept {
        if (score_.load(std::memory_order_relaxed) != score)
            score_.store(score, std::memory_order_relaxed);
    }

    // Above that he was late once, so many results in turn were wanted at once.
    static constexpr int UNKNOWN = -2, GOES_ON = -1, LATE_ONCE = 0, SURE = 4;
    std::atomic<int> score_ = UNKNOWN;
};

}  // namespace brimstone
