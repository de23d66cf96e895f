// The pool after fork(): the child starts workers of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "check.hpp"
#include "jobs.hpp"
#include "pool.hpp"
#include "steps.hpp"
#include "streams.hpp"

namespace brimstone {
namespace {

// What a child process thinks of something; it has a minute.
bool in_child(auto holds) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(holds() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void test_child_has_workers_again() {
    Pool pool(2);
    check(runs_once(pool, 100));
    check(in_child([&] { return runs_once(pool, 100) && is_shared(pool); }));
    check(is_shared(pool));
    check(in_child([] {
        Pool fresh(2);
        return is_shared(fresh) && in_child([&] { return is_shared(fresh); });
    }));
}

// The child finds the jobs of threads that it does not have.
void test_fork_while_others_run() {
    Pool pool(3);
    std::atomic<bool> done = false;
    auto nothing = [](int64_t) {};
    std::thread other([&] {
        while (!done) run(pool, 5, nothing);
    });
    for (int i = 0; i < 20; ++i)
        check(in_child([&] {
            std::atomic<bool> all = is_shared(pool);
            in_threads(2, [&] {
                if (!runs_once(pool, 100)) all = false;
            });
            return all.load();
        }));
    done = true;
    other.join();
}

// Tasks of one stream wait for those of the other, and the child goes on with what was computed.
void test_fork_while_streams_run() {
    Pool pool(2);
    Stream &left = *open_stream(pool), &right = *open_stream(pool);
    const Adding adding(1, 1, int64_t{16} << 20);
    Program program(adding.plan);
    for (int i = 0; i < 20; ++i) {
        brimstone_arrays *arrays = zeros();
        for (int j = 0; j < 6; ++j) arrays = call(j % 2 ? left : right, program, arrays);
        check(in_child([&] { return number(call(left, program, again(arrays))) == 7; }));
        check(number(arrays) == 6);
    }
    close_stream(&left);
    close_stream(&right);
    settle(program);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_child_has_workers_again();
    test_fork_while_others_run();
    test_fork_while_streams_run();
    return exit_status();
}
