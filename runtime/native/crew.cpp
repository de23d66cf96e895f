#include "crew.hpp"

#include <algorithm>
#include <bit>
#include <exception>

#include "clock.hpp"
#include "memory.hpp"
#include "quiet.hpp"

namespace brimstone {
namespace {

constexpr int PAUSES_PER_LOOK_AT_CLOCK = 16;
// Taken from what a job has left, it is one chunk less.
constexpr int64_t ONE_LESS = int64_t{1} << 32;
// Beside the number of helpers: who waits for them is asleep.
constexpr uint32_t SLEEPS = uint32_t{1} << 31;

// What became of spinning: whether the condition holds, and whether somebody else had the core.
struct Spun {
    bool holds, was_held_up;
};

template <typename Condition>
Spun spin_until(Condition holds, int64_t spin) {
    if (holds()) return {true, false};
    int64_t before = now();
    const int64_t end = before + spin;
    for (bool was_held_up = false;;) {
        for (int i = 0; i < PAUSES_PER_LOOK_AT_CLOCK; ++i) {
            relax();
            if (holds()) return {true, was_held_up};
        }
        const int64_t after = now();
        was_held_up |= after - before > Patience::HELD_UP;
        if (after >= end) return {false, was_held_up};
        before = after;
    }
}

}  // namespace

void Job::open(int64_t chunks, Chunk work, void *context) noexcept {
    chunks_ = chunks;
    work_ = work;
    context_ = context;
    left_.store(chunks * ONE_LESS, std::memory_order_release);
}

void Job::take_chunks() noexcept {
    for (int64_t was; (was = left_.fetch_sub(ONE_LESS, std::memory_order_acq_rel)) >= ONE_LESS;)
        work_(context_, chunks_ - was / ONE_LESS - was % ONE_LESS);
}

bool Job::help() noexcept {
    if (left_.load(std::memory_order_relaxed) < ONE_LESS) return false;
    helpers_.fetch_add(1, std::memory_order_acq_rel);
    for (int64_t was; (was = left_.fetch_sub(ONE_LESS - 1, std::memory_order_acq_rel)) >= ONE_LESS;)
        work_(context_, chunks_ - 1 - was % ONE_LESS);
    if (helpers_.fetch_sub(1, std::memory_order_acq_rel) == (SLEEPS | 1)) wake_one(helpers_);
    return true;
}

bool Job::wait_for_helpers(int64_t spin, int64_t time) noexcept {
    const auto has_none = [this] { return helpers_.load(std::memory_order_acquire) % SLEEPS == 0; };
    if (spin_until(has_none, spin).holds) return true;
    uint32_t was = 0;
    bool is_in_time = true;
    while (is_in_time && (was = helpers_.fetch_or(SLEEPS, std::memory_order_acq_rel)) % SLEEPS != 0)
        is_in_time = sleep_while(helpers_, was | SLEEPS, time);
    helpers_.fetch_and(~SLEEPS, std::memory_order_acq_rel);
    return is_in_time;
}

Crew::Crew(unsigned forks) noexcept : forks_(forks) {}

Crew::~Crew() {
    ended_.store(true);
    ++calls_;
    wake_all(calls_);
    for (auto &worker : workers_) worker.join();
}

// Every job gets done with fewer workers too, so a machine that has no more threads is no error.
void Crew::start(int workers) noexcept {
    const Quiet quiet;
    try {
        posts_ = std::vector<Post>(static_cast<size_t>(workers));
        workers_.reserve(static_cast<size_t>(workers));
        for (int i = 0; i < workers; ++i) workers_.emplace_back([this, i] { live(i); });
    } catch (const std::exception &) {
    }
    started_.store(true, std::memory_order_release);
}

void Crew::make_way() noexcept {
    if (started_.load(std::memory_order_acquire)) way_.make(workers_);
}

bool Crew::run(int64_t chunks, Chunk work, void *context) noexcept {
    const int place = claim();
    if (place < 0) return false;
    Job &job = jobs_[static_cast<size_t>(place)];
    job.open(chunks, work, context);
    call(chunks - 1);
    const int64_t begin = now();
    job.take_chunks();
    const int64_t end = now();
    const int64_t late = std::max(Patience::HELD_UP, (end - begin) / 2);
    if (!job.wait_for_helpers(patience_.for_helpers(), late)) fetch_last_helper(job);
    if (now() - end > late) patience_.be_wary(now());
    claimed_.fetch_and(~(uint64_t{1} << place), std::memory_order_release);
    return true;
}

// Somebody else has his core, it seems, and may keep it for milliseconds. The caller's is free
// until he comes to his end.
void Crew::fetch_last_helper(Job &job) noexcept {
    const auto is_at_it = [&](const Post &each) {
        return each.job.load(std::memory_order_relaxed) == &job;
    };
    bool is_fetched = false;
    if (started_.load(std::memory_order_acquire) && std::ranges::count_if(posts_, is_at_it) == 1) {
        const auto place = std::ranges::find_if(posts_, is_at_it) - posts_.begin();
        is_fetched = way_.fetch(workers_[static_cast<size_t>(place)]);
    }
    job.wait_for_helpers(0);
    if (is_fetched) way_.send_back();
}

// The place of a job that nobody uses, or -1 when all are in use.
int Crew::claim() noexcept {
    uint64_t claimed = claimed_.load(std::memory_order_relaxed);
    while (~claimed) {
        const int place = std::countr_one(claimed);
        const uint64_t after = claimed | uint64_t{1} << place;
        if (claimed_.compare_exchange_weak(claimed, after, std::memory_order_acquire)) return place;
    }
    return -1;
}

// A worker counts itself asleep before it looks for a call a last time, and a caller looks for
// sleepers after its call: one of the two sees the other, as all four are sequentially consistent.
void Crew::call(int64_t wanted) noexcept {
    ++calls_;
    const int asleep = sleepers_.load();
    if (asleep > 0) called_.store(now(), std::memory_order_relaxed);
    if (wanted < asleep) {
        for (int64_t i = 0; i < wanted; ++i) wake_one(calls_);
    } else if (asleep > 0) {
        wake_all(calls_);
    }
}

// What a worker does until the crew ends. Homes count from zero for those who call for help.
void Crew::live(int number) noexcept {
    settle_down(~static_cast<size_t>(number));
    for (;;) {
        const uint32_t seen = calls_.load();
        if (ended_.load()) return;
        if (!help(posts_[static_cast<size_t>(number)])) wait_for_call(seen);
    }
}

// Whether there was a job to help with.
bool Crew::help(Post &post) noexcept {
    bool helped = false;
    for (uint64_t left = claimed_.load(std::memory_order_acquire); left; left &= left - 1) {
        Job &job = jobs_[static_cast<size_t>(std::countr_zero(left))];
        post.job.store(&job, std::memory_order_relaxed);
        helped |= job.help();
    }
    post.job.store(nullptr, std::memory_order_relaxed);
    return helped;
}

void Crew::wait_for_call(uint32_t seen) noexcept {
    const int64_t begin = now();
    const auto is_called = [&] { return calls_.load() != seen; };
    const Spun spun = spin_until(is_called, patience_.for_jobs(begin));
    if (spun.was_held_up) patience_.be_wary(now());
    if (spun.holds) {
        patience_.waited(now() - begin);
        return;
    }
    ++sleepers_;
    sleep_while(calls_, seen);
    --sleepers_;
    const int64_t woken = now(), called = called_.load(std::memory_order_relaxed);
    const bool was_seen = called >= begin;  // asleep; if not, it tells of a call before
    if (was_seen) patience_.was_woken(woken - called);
    patience_.waited((was_seen ? called : woken) - begin);
}

}  // namespace brimstone
