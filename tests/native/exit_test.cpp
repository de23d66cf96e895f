// A process may end while workers sleep, and while another thread runs a job.
#include <chrono>
#include <thread>

#include "pool.hpp"

namespace {

void nothing(void *, int64_t) {}

}  // namespace

int main() {
    static brimstone::Pool destroyed_at_exit(3);
    destroyed_at_exit.run(10, nothing, nullptr);

    static auto &never_destroyed = *new brimstone::Pool(3);
    std::thread([] {
        for (;;) never_destroyed.run(10, nothing, nullptr);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return 0;
}
