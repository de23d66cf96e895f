#include "door.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "clock.hpp"
#include "home.hpp"
#include "patience.hpp"

namespace brimstone {
namespace {

// Nobody waits awake for longer.
constexpr int64_t AT_MOST = 200'000;  // nanoseconds
// Then he offers his core so often, as who is inside may have lost his own; but no more once
// somebody has taken it for longer than a moment.
constexpr int OFFERS = 16;
constexpr int64_t MOMENT = 100'000;
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

// Who only looks leaves the line of the cache to who is inside.
bool is_through() noexcept {
    const void *nobody = nullptr;
    return !door.inside.load() && door.inside.compare_exchange_strong(nobody, &own);
}

}  // namespace

Visit::Visit() noexcept {
    own.stay = own.back ? now() - own.back : 0;
    const void *self = &own;
    door.inside.compare_exchange_strong(self, nullptr);
}

Visit::~Visit() {
    int64_t time = now();
    const int64_t end = time + AT_MOST;  // where there are many threads, one comes after the other
    for (int offers = 0; !is_through();) {
        const int64_t before = time;
        if (before < std::min(door.until.load(std::memory_order_relaxed), end)) {
            for (int i = 0; i < PAUSES_PER_LOOK_AT_CLOCK; ++i) relax();
            time = now();
            continue;
        }
        if (offers++ < OFFERS) {
            std::this_thread::yield();
            time = now();
            if (time - before < MOMENT) continue;
        }
        door.inside.store(&own);
        break;
    }
    door.until.store(time + std::min(2 * own.stay, AT_MOST), std::memory_order_relaxed);
    own.back = time;
}

}  // namespace brimstone
