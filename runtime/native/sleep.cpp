#include "sleep.hpp"

#if defined(__linux__)

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace brimstone {
namespace {

static_assert(sizeof(Counter) == sizeof(uint32_t) && Counter::is_always_lock_free);

constexpr int64_t A_SECOND = 1'000'000'000;

long call(const Counter &counter, int what, uint32_t value, const timespec *time) noexcept {
    return syscall(SYS_futex, &counter, what, value, time);
}

}  // namespace

bool sleep_while(const Counter &counter, uint32_t value, int64_t time) noexcept {
    const timespec span = {.tv_sec = time / A_SECOND, .tv_nsec = time % A_SECOND};
    while (counter.load() == value)
        if (call(counter, FUTEX_WAIT_PRIVATE, value, &span) != 0 && errno == ETIMEDOUT)
            return false;
    return true;
}
void wake_one(Counter &counter) noexcept { call(counter, FUTEX_WAKE_PRIVATE, 1, nullptr); }
void wake_all(Counter &counter) noexcept { call(counter, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr); }

}  // namespace brimstone

#else

namespace brimstone {

bool sleep_while(const Counter &counter, uint32_t value, int64_t) noexcept {
    counter.wait(value);
    return true;
}
void wake_one(Counter &counter) noexcept { counter.notify_one(); }
void wake_all(Counter &counter) noexcept { counter.notify_all(); }

}  // namespace brimstone

#endif
