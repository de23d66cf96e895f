#include "way.hpp"

#include <sched.h>

#include <algorithm>

namespace brimstone {

#if defined(__linux__)

namespace {

bool is_one_of(const std::vector<std::thread> &workers) noexcept {
    const auto self = std::this_thread::get_id();
    return std::ranges::any_of(workers, [=](auto &each) { return each.get_id() == self; });
}

}  // namespace

// With fewer processors than threads nothing is gained: some of them stand in line anyway.
void Way::make(std::vector<std::thread> &workers) noexcept {
    const int here = sched_getcpu();
    if (here < 0 || here == avoided_.load(std::memory_order_relaxed)) return;
    if (workers.empty() || is_one_of(workers)) return;
    if (taken_.test_and_set(std::memory_order_acquire)) return;
    cpu_set_t now;
    if (pthread_getaffinity_np(workers.front().native_handle(), sizeof now, &now) == 0) {
        if (!CPU_EQUAL(&now, &given_)) allowed_ = now;  // as they began, or as somebody wants it
        given_ = allowed_;
        CPU_CLR(static_cast<size_t>(here), &given_);
        if (static_cast<size_t>(CPU_COUNT(&given_)) >= workers.size())
            for (auto &each : workers)
                pthread_setaffinity_np(each.native_handle(), sizeof given_, &given_);
        avoided_.store(here, std::memory_order_relaxed);
    }
    taken_.clear(std::memory_order_release);
}

bool Way::fetch(std::thread &worker) noexcept {
    const int here = sched_getcpu();
    if (here < 0 || taken_.test_and_set(std::memory_order_acquire)) return false;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<size_t>(here), &only);
    fetched_ = worker.native_handle();
    if (pthread_getaffinity_np(fetched_, sizeof before_, &before_) == 0 &&
        !CPU_ISSET(static_cast<size_t>(here), &before_) &&
        pthread_setaffinity_np(fetched_, sizeof only, &only) == 0)
        return true;
    taken_.clear(std::memory_order_release);
    return false;
}

void Way::send_back() noexcept {
    pthread_setaffinity_np(fetched_, sizeof before_, &before_);
    taken_.clear(std::memory_order_release);
}

#else  // other systems do not say where a thread runs

void Way::make(std::vector<std::thread> &) noexcept {}
bool Way::fetch(std::thread &) noexcept { return false; }
void Way::send_back() noexcept {}

#endif

}  // namespace brimstone
