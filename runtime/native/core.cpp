// The functions of brimstone.h that belong to no larger part.
#include "brimstone.h"

#include <chrono>

const char *brimstone_version(void) { return BRIMSTONE_VERSION; }

int64_t brimstone_clock(void) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
