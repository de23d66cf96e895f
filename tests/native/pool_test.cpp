// The pool: every chunk runs once, whoever calls and from wherever.
#include "pool.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "jobs.hpp"

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
    test_one_thread_and_one_chunk_are_plain_loops();
    test_who_comes_to_a_full_pool_works_alone();
    test_chunks_call_run();
    test_chunks_call_run_very_deep();
    test_many_threads_call_run();
    test_short_lives();
    return exit_status();
}
