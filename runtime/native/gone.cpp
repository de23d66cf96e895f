#include "gone.hpp"

#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "array.hpp"
#include "home.hpp"

namespace brimstone {
namespace {

constexpr int64_t MUCH = int64_t{1} << 20;

struct alignas(APART) Gone {
    std::mutex mutex;
    std::vector<brimstone_arrays *> arrays;
    int64_t bytes = 0;
};
auto &homes = *new std::array<Gone, HOMES>;  // never destroyed, as threads may end after them

}  // namespace

bool leave_to_next(brimstone_arrays *arrays, int64_t bytes) noexcept {
    Gone &gone = homes[own_home()];
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
    Gone &gone = homes[own_home()];
    const std::lock_guard lock(gone.mutex);
    const size_t count = gone.arrays.size();
    before.insert(before.begin(), gone.arrays.begin(), gone.arrays.end());
    gone.arrays.clear();
    gone.bytes = 0;
    return count;
}

void drop_gone() noexcept {
    for (Gone &gone : homes) {
        std::vector<brimstone_arrays *> taken;
        {
            const std::lock_guard lock(gone.mutex);
            taken.swap(gone.arrays);
            gone.bytes = 0;
        }
        for (brimstone_arrays *each : taken) leave(each);
    }
}

}  // namespace brimstone
