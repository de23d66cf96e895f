// The functions of brimstone.h, each as the part of the core that does it.
#include <chrono>
#include <new>

#include "brimstone.h"
#include "pack.hpp"
#include "pool.hpp"
#include "script.hpp"

struct brimstone_threads {
    brimstone::Pool pool;
};

const char *brimstone_version(void) { return BRIMSTONE_VERSION; }

int64_t brimstone_clock(void) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

brimstone_threads *brimstone_new_threads(int32_t count) {
    return new (std::nothrow) brimstone_threads{brimstone::Pool(count)};
}

int64_t brimstone_run(brimstone_threads *threads, const brimstone_script *script,
                      const uint64_t *addresses, uint64_t *slots, int64_t begin) {
    return brimstone::run(threads->pool, *script, addresses, slots, begin);
}

int64_t brimstone_pack(brimstone_interval *intervals, int64_t count) {
    try {
        return brimstone::pack({intervals, static_cast<size_t>(count)});
    } catch (const std::bad_alloc &) {
        return -1;
    }
}
