#include "asker.hpp"

#include <utility>

#include "home.hpp"

namespace brimstone {
namespace {

// Results that are wanted after this time are not wanted at once.
constexpr auto AT_ONCE = std::chrono::microseconds(100);
// The same where they were computed just before: what the caller needs is not in the caches then.
constexpr auto THEN_AT_ONCE = std::chrono::microseconds(200);
// The same where other threads are at work, too: until Python, which lets them take turns, asks the
// one whose turn it is to make way.
constexpr auto TURN = std::chrono::milliseconds(5);
// Who has asked for something is likely to do so again within this time, a few turns.
constexpr auto COMPANY = std::chrono::milliseconds(100);

// Which thread was the last to say that it asks for something, and when: of each, the address of
// something of its own, as a thread that was interrupted has had several streams.
struct alignas(APART) Latest {
    std::atomic<const void *> thread = nullptr;
    std::atomic<Time::rep> at = 0;
};
Latest latest;
thread_local char own_place;

}  // namespace

uint32_t Asker::asks(Time now) noexcept {
    asked_ = now;
    note_company(now);
    learn();
    return ++asked_for_;
}

void Asker::went_on(Haste &without) noexcept {
    without.went_on_without();
    awaits_ = false;
}

void Asker::waits(Haste &haste, Time now) noexcept {
    if (asked_ == Time()) return;
    awaits_ = is_at_once(now - std::exchange(asked_, Time()), AT_ONCE);
    haste.wanted(awaits_);
    has_answer_ = false;
}

bool Asker::awaits(const Haste &haste) const noexcept { return haste.awaits(awaits_); }

bool Asker::surely_awaits(const std::shared_ptr<Haste> &haste) noexcept {
    if (!haste->surely_awaits()) return false;
    if (answered_ != haste) answered_ = haste;  // to hold it once more is to write to it
    return has_answer_ = true;
}

bool Asker::is_watched(uint32_t number) const noexcept {
    return number == asked_for_.load(std::memory_order_relaxed) &&
           reading_.load(std::memory_order_relaxed) == 0;
}

void Asker::reads(Time now) noexcept {
    reading_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

// Whether other threads ask for something, too; each tells the others by asking, as long as it does
// not know for a good while that they are there.
void Asker::note_company(Time now) noexcept {
    if (now + COMPANY / 2 < company_until_) return;
    const Time::rep count = now.time_since_epoch().count();
    const Time before{Time::duration(latest.at.exchange(count, std::memory_order_relaxed))};
    const void *thread = latest.thread.exchange(&own_place, std::memory_order_relaxed);
    if (thread != &own_place && before + COMPANY > now) company_until_ = now + COMPANY;
    has_company_ = now < company_until_;
}

// From what became of the results that were there when he went on.
void Asker::learn() noexcept {
    const Time::rep reading = reading_.exchange(0, std::memory_order_relaxed);
    if (!std::exchange(has_answer_, false)) return;
    awaits_ = reading != 0 && is_at_once(Time(Time::duration(reading)) - answer_, THEN_AT_ONCE);
    if (reading == 0)
        answered_->went_on_without();
    else
        answered_->wanted(awaits_);
}

// Whether somebody wants results at once who wants them after this time. In company he may have to
// wait for his turn before he can say so.
bool Asker::is_at_once(Time::duration passed, Time::duration alone) const noexcept {
    return passed < (has_company_ ? TURN : alone);
}

}  // namespace brimstone
