// Sleep: until a counter has changed, or for a while.
#include "sleep.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"

namespace brimstone {
namespace {

using namespace std::chrono_literals;

void test_nobody_sleeps_who_has_nothing_to_wait_for() {
    const Counter counter = 1;
    check(sleep_while(counter, 0));
}

void test_one_is_woken_then_all_others() {
    Counter counter = 0;
    std::atomic<int> awake = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] { awake += sleep_while(counter, 0); });
    std::this_thread::sleep_for(10ms);
    check(awake == 0);
    counter = 1;
    wake_one(counter);
    while (awake == 0) std::this_thread::sleep_for(1ms);
    wake_all(counter);
    for (auto &each : threads) each.join();
    check(awake == 4);
}

// As it does not change, nobody goes on.
void test_who_is_woken_for_nothing_sleeps_on() {
    Counter counter = 0;
    std::atomic<bool> is_awake = false;
    std::thread thread([&] { is_awake = sleep_while(counter, 0); });
    for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(1ms);
        wake_all(counter);
    }
    check(!is_awake);
    counter = 1;
    wake_all(counter);
    thread.join();
    check(is_awake);
}

#if defined(__linux__)
void test_nobody_sleeps_for_longer_than_he_wants() {
    const Counter counter = 0;
    const auto begin = std::chrono::steady_clock::now();
    check(!sleep_while(counter, 0, 2'000'000));
    check(std::chrono::steady_clock::now() - begin >= 2ms);
}
#endif

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_nobody_sleeps_who_has_nothing_to_wait_for();
    test_one_is_woken_then_all_others();
    test_who_is_woken_for_nothing_sleeps_on();
#if defined(__linux__)
    test_nobody_sleeps_for_longer_than_he_wants();
#endif
    return exit_status();
}
