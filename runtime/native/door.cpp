#include "door.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "clock.hpp"
#include "home.hpp"
#include "patience.hpp"

namespace brimstone {
namespace {

// Nobody waits for longer: to sleep costs as much.
constexpr int64_t AT_MOST = 60'000;  // nanoseconds
constexpr int PAUSES_PER_LOOK_AT_CLOCK = 8;

// Who came back last and has not asked for anything since, as the address of something of his own;
// and until when others wait for him.
struct alignas(APART) Door {
    std::atomic<const void *> inside = nullptr;
    std::atomic<int64_t> until = 0;
};
Door door;

// When a thread went back, and how long it stayed, the time before.
struct Own {
    int64_t back = 0, stay = 0;
};
thread_local Own own;

}  // namespace

Visit::Visit() noexcept {
    own.stay = own.back ? now() - own.back : 0;
    const void *self = &own;
    door.inside.compare_exchange_strong(self, nullptr);
}

Visit::~Visit() {
    int64_t time = now();
    const int64_t end = time + AT_MOST;  // where there are many threads, one comes after the other
    for (const void *other = nullptr; !door.inside.compare_exchange_strong(other, &own);) {
        if (time >= std::min(door.until.load(std::memory_order_relaxed), end)) {
            door.inside.store(&own);
            break;
        }
        for (int i = 0; i < PAUSES_PER_LOOK_AT_CLOCK; ++i) relax();
        other = nullptr;
        time = now();
    }
    door.until.store(time + std::min(2 * own.stay, AT_MOST), std::memory_order_relaxed);
    own.back = time;
}

}  // namespace brimstone
