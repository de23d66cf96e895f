// How long threads spin, of how long they had to wait.
#include "check.hpp"
#include "patience.hpp"

namespace brimstone {
namespace {

constexpr int64_t MICROSECOND = 1'000, MILLISECOND = 1'000'000;
constexpr int64_t LEAST = 5 * MICROSECOND, MOST = 150 * MICROSECOND;

void test_who_waits_for_helpers_spins_as_long_as_it_takes_to_wake_one() {
    Patience patience;
    check(patience.for_helpers() == LEAST);
    for (int i = 0; i < 50; ++i) patience.was_woken(30 * MICROSECOND);
    check(patience.for_helpers() > 29 * MICROSECOND && patience.for_helpers() <= 30 * MICROSECOND);
    for (int i = 0; i < 50; ++i) patience.was_woken(10 * MILLISECOND);
    check(patience.for_helpers() <= 50 * MICROSECOND);
    for (int i = 0; i < 50; ++i) patience.was_woken(-MILLISECOND);
    check(patience.for_helpers() >= LEAST);
}

void test_who_waits_for_jobs_spins_twice_as_long_as_he_had_to() {
    Patience patience;
    check(patience.for_jobs(0) == LEAST);
    patience.waited(30 * MICROSECOND);
    check(patience.for_jobs(0) == 60 * MICROSECOND);
    patience.waited(100 * MICROSECOND);
    check(patience.for_jobs(0) == MOST);
    patience.waited(MICROSECOND);  // the longest of some in turn counts
    check(patience.for_jobs(0) > 100 * MICROSECOND);
    for (int i = 0; i < 100; ++i) patience.waited(10 * MICROSECOND);
    check(patience.for_jobs(0) < 25 * MICROSECOND);
}

void test_nobody_spins_for_what_takes_longer() {
    Patience patience;
    patience.waited(MILLISECOND);
    check(patience.for_jobs(0) == LEAST);
    patience.waited(70 * MICROSECOND);
    patience.waited(MILLISECOND);  // once among shorter times it does not count
    check(patience.for_jobs(0) > 100 * MICROSECOND);
    for (int i = 0; i < 100; ++i) patience.waited(MILLISECOND);
    check(patience.for_jobs(0) < LEAST + MICROSECOND);
}

void test_where_others_want_the_cores_nobody_spins_long() {
    Patience patience;
    const int64_t now = 7 * MILLISECOND;
    patience.waited(70 * MICROSECOND);
    patience.be_wary(now);
    check(patience.for_jobs(now + MICROSECOND) == patience.for_helpers());
    check(patience.for_jobs(now + 1000 * MILLISECOND) == 140 * MICROSECOND);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_who_waits_for_helpers_spins_as_long_as_it_takes_to_wake_one();
    test_who_waits_for_jobs_spins_twice_as_long_as_he_had_to();
    test_nobody_spins_for_what_takes_longer();
    test_where_others_want_the_cores_nobody_spins_long();
    return exit_status();
}
