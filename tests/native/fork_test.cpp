// The pool after fork(): the child starts workers of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "check.hpp"
#include "jobs.hpp"
#include "pool.hpp"

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

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_child_has_workers_again();
    test_fork_while_others_run();
    return exit_status();
}
