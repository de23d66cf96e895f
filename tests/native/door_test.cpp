// The way back to Python: who waits there for whom, and for how long.
#include "door.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "check.hpp"

namespace brimstone {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Stay in Python, or in the core, for so long.
void stay(microseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
    }
}

// How long one waits at the door who comes back from the core once he may.
Clock::duration wait(std::atomic<bool> &is_in, const std::atomic<bool> &may_leave) {
    Clock::time_point begin;
    {
        const Visit visit;
        is_in = true;
        while (!may_leave) std::this_thread::yield();
        begin = Clock::now();
    }
    return Clock::now() - begin;
}

// How many of so many waits are longer than one time, and shorter than another one: of a thread
// that comes back when this one just has, and stays in Python.
int waits_between(int times, microseconds least, microseconds most) {
    int found = 0;
    for (int i = 0; i < times; ++i) {
        std::atomic<bool> is_in = false, may_leave = false, is_back = false;
        Clock::duration took;
        { const Visit visit; }
        std::thread other([&] {
            took = wait(is_in, may_leave);
            is_back = true;
        });
        while (!is_in) std::this_thread::yield();
        stay(microseconds(40));  // who was here for so long is likely to be so again
        { const Visit visit; }
        may_leave = true;
        while (!is_back) std::this_thread::yield();
        other.join();
        found += took > least && took < most;
    }
    return found;
}

// Any may have to wait for a core, or come too late to wait for anybody.
void test_who_comes_back_waits_a_moment_for_who_stays() {
    check(waits_between(200, microseconds(20), microseconds(800)) > 5);
}

void test_nobody_waits_for_himself() {
    const std::atomic<bool> may_leave = true;
    std::atomic<bool> is_in = false;
    auto least = Clock::duration::max();
    for (int i = 0; i < 50; ++i) {
        stay(microseconds(20));
        least = std::min(least, wait(is_in, may_leave));
    }
    check(least < microseconds(10));
}

// Of how many rounds of two threads, half of which they spend in Python, they are there together.
int together(int rounds) {
    std::atomic<int> inside = 0, found = 0;
    const auto work = [&] {
        for (int i = 0; i < rounds; ++i) {
            {
                const Visit visit;
                stay(microseconds(5));
            }
            if (inside.fetch_add(1) > 0) ++found;
            stay(microseconds(5));
            inside.fetch_sub(1);
        }
    };
    std::thread one(work), other(work);
    one.join();
    other.join();
    return found;
}

// Who has lost his core while he is inside is not waited for: one of many tries is without that.
void test_two_take_turns() {
    constexpr int ROUNDS = 200;
    for (int i = 0; i < 100; ++i)
        if (together(ROUNDS) < ROUNDS / 10) return;
    check(false);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_nobody_waits_for_himself();
    test_who_comes_back_waits_a_moment_for_who_stays();
    test_two_take_turns();
    return exit_status();
}
