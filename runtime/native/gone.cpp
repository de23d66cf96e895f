#include "gone.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "array.hpp"

namespace brimstone {
namespace {

constexpr int64_t MUCH = int64_t{1} << 20;

struct Gone {
    std::mutex mutex;
    std::vector<brimstone_arrays *> arrays;
    int64_t bytes = 0;
};
Gone &gone = *new Gone;  // never destroyed, as threads may end after it

}  // namespace

bool leave_to_next(brimstone_arrays *arrays, int64_t bytes) noexcept {
    const std::lock_guard lock(gone.mutex);
    if (bytes >= MUCH - gone.bytes) return false;
    try {
        gone.arrays.push_back(arrays);
        gone.bytes += bytes;
        return true;
    } catch (const std::bad_alloc &) {
        return false;
    }
}

size_t take_gone(std::vector<brimstone_arrays *> &before) {
    const std::lock_guard lock(gone.mutex);
    const size_t count = gone.arrays.size();
    before.insert(before.begin(), gone.arrays.begin(), gone.arrays.end());
    gone.arrays.clear();
    gone.bytes = 0;
    return count;
}

std::vector<brimstone_arrays *> take_gone() noexcept {
    const std::lock_guard lock(gone.mutex);
    gone.bytes = 0;
    return std::exchange(gone.arrays, {});
}

void drop_gone() noexcept {
    for (brimstone_arrays *each : take_gone()) leave(each);
}

}  // namespace brimstone
