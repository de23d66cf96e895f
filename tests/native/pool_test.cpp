// The pool: every chunk runs once, whoever calls and from wherever.
#include "pool.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "jobs.hpp"

namespace {

std::atomic<int> turns_given_away = 0;

}  // namespace

// In place of the system's.
extern "C" int sched_yield() noexcept {
    ++turns_given_away;
    return 0;
}

namespace brimstone {
namespace {

using namespace std::chrono_literals;

void test_every_chunk_runs_once() {
    for (const int threads : {1, 2, 3, 16}) {
        Pool pool(threads);
        check(pool.threads() == threads);
        for (const int64_t chunks : {0, 1, 2, 3, 7, 64, 97, 1009, 100'000})
            check(runs_once(pool, chunks));
        for (int i = 0; i < 5000; ++i) check(runs_once(pool, i % 5));
    }
    check(Pool(0).threads() == 1);
}

// Between two jobs the workers fall asleep, one or all of them are woken.
void test_chunks_run_at_the_same_time() {
    for (const int threads : {2, 4}) {
        Pool pool(threads);
        for (int i = 0; i < 10; ++i) {
            check(is_shared(pool));
            std::this_thread::sleep_for(1ms);
        }
    }
}

// Who gives it away to a program that spins has it back milliseconds later. Here workers wait for
// jobs, and a caller for the last chunk of his helper, until they fall asleep.
void test_nobody_who_waits_gives_his_turn_away() {
    Pool pool(2);
    turns_given_away = 0;
    for (int i = 0; i < 10; ++i) {
        std::atomic<int> begun = 0;
        const auto caller = std::this_thread::get_id();
        auto meet = [&](int64_t) {
            check(both(begun));
            if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(1ms);
        };
        run(pool, 2, meet);
        std::this_thread::sleep_for(1ms);
    }
    check(turns_given_away == 0);
}

void test_one_thread_and_one_chunk_are_plain_loops() {
    Pool alone(1), both(2);
    std::vector<int64_t> seen;
    auto note = [&](int64_t chunk) { seen.push_back(chunk); };
    run(alone, 3, note);
    run(both, 1, note);
    check(seen == std::vector<int64_t>{0, 1, 2, 0});
}

void test_who_comes_to_a_full_pool_works_alone() {
    Pool pool(2);
    const auto is_alone = [&] {
        const auto caller = std::this_thread::get_id();
        std::atomic<int> others = 0;
        auto look = [&](int64_t) {
            others += std::this_thread::get_id() != caller;
            std::this_thread::sleep_for(100us);
        };
        run(pool, 20, look);
        return others == 0;
    };
    pool.enter();
    check(is_shared(pool));
    pool.enter();
    check(is_alone());
    pool.leave();
    check(is_shared(pool));
    pool.leave();
}

void test_chunks_call_run() {
    Pool pool(3);
    std::atomic<int> failed = 0;
    auto inner = [&](int64_t chunk) { failed += !runs_once(pool, chunk % 4); };
    auto outer = [&](int64_t) { run(pool, 20, inner); };
    run(pool, 50, outer);
    check(failed == 0);
}

// More jobs at once than the pool has places for.
void test_chunks_call_run_very_deep() {
    Pool pool(2);
    std::atomic<int> reached = 0;
    struct Level {
        Pool &pool;
        std::atomic<int> &reached;
        int depth;
        void operator()(int64_t chunk) {
            ++reached;
            Level next{pool, reached, depth - 1};
            if (chunk == 0 && depth > 0) run(pool, 2, next);
        }
    };
    Level first{pool, reached, 99};
    run(pool, 2, first);
    check(reached == 200);
}

void test_many_threads_call_run() {
    Pool pool(2);
    in_threads(8, [&] {
        for (int i = 0; i < 10'000; ++i) check(runs_once(pool, i % 7));
    });
}

#if defined(__linux__)
cpu_set_t only(size_t processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return set;
}

// Where the workers may run, as the one that helps sees it.
cpu_set_t of_workers(Pool &pool) {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::atomic<int> begun = 0, ended = 0;
    const auto caller = std::this_thread::get_id();
    auto look = [&](int64_t) {
        check(both(begun));
        if (std::this_thread::get_id() != caller) sched_getaffinity(0, sizeof set, &set);
        check(both(ended));  // a caller who had nothing to do would fetch him, if he is late
    };
    run(pool, 2, look);
    return set;
}

// They may run where the thread that started them might, but for the processor of who calls.
void test_workers_make_way() {
    Pool pool(2);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    check(is_shared(pool));
    for (size_t processor = 0, tried = 0; processor < CPU_SETSIZE && tried < 4; ++processor) {
        if (CPU_COUNT(&allowed) == 1 || !CPU_ISSET(processor, &allowed)) continue;
        const cpu_set_t here = only(processor);
        sched_setaffinity(0, sizeof here, &here);
        const cpu_set_t found = of_workers(pool);
        cpu_set_t together;
        CPU_OR(&together, &found, &here);
        check(!CPU_ISSET(processor, &found) && CPU_EQUAL(&together, &allowed));
        ++tried;
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
}

// Somebody else may have his processor. Here he stays until he finds himself at the caller's, who
// has nothing to do; then he is sent back.
void test_a_helper_who_is_late_is_fetched() {
    Pool pool(2);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    const cpu_set_t here = only(static_cast<size_t>(sched_getcpu()));
    sched_setaffinity(0, sizeof here, &here);
    const cpu_set_t before = of_workers(pool);
    std::atomic<int> begun = 0;
    const auto caller = std::this_thread::get_id();
    auto stay = [&](int64_t) {
        check(both(begun));
        if (std::this_thread::get_id() == caller) return;
        const auto is_here = [&] { return CPU_ISSET(static_cast<size_t>(sched_getcpu()), &here); };
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (!is_here() && std::chrono::steady_clock::now() < end) {
        }
        check(is_here());
    };
    run(pool, 2, stay);
    const cpu_set_t after = of_workers(pool);
    check(CPU_EQUAL(&before, &after));
    sched_setaffinity(0, sizeof allowed, &allowed);
}

// A worker may call, too, but makes no way for itself.
void test_a_worker_that_calls_stays_where_it_is() {
    Pool pool(2);
    std::atomic<int> begun = 0, ended = 0;
    const auto caller = std::this_thread::get_id();
    auto nothing = [](int64_t) {};
    auto call = [&](int64_t) {
        check(both(begun));
        if (std::this_thread::get_id() != caller) {
            cpu_set_t before, after;
            sched_getaffinity(0, sizeof before, &before);
            run(pool, 2, nothing);
            sched_getaffinity(0, sizeof after, &after);
            check(CPU_EQUAL(&before, &after));
        }
        check(both(ended));  // the caller's processor stays in use
    };
    run(pool, 2, call);
}
#endif

// Also as the first calls of all, which start the workers.
void test_short_lives() {
    for (int i = 0; i < 300; ++i) {
        Pool pool(i % 4 + 1);
        if (i % 3) in_threads(2, [&] { check(runs_once(pool, i % 5)); });
    }
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_every_chunk_runs_once();
    test_chunks_run_at_the_same_time();
    test_nobody_who_waits_gives_his_turn_away();
    test_one_thread_and_one_chunk_are_plain_loops();
    test_who_comes_to_a_full_pool_works_alone();
    test_chunks_call_run();
    test_chunks_call_run_very_deep();
    test_many_threads_call_run();
    test_short_lives();
#if defined(__linux__)
    test_workers_make_way();
    test_a_helper_who_is_late_is_fetched();
    test_a_worker_that_calls_stays_where_it_is();
#endif
    return exit_status();
}
