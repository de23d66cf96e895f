#include "inside.hpp"

#include <span>

namespace brimstone {
namespace {

// An index below 0 is larger than any size, once it has no sign.
template <typename Integer>
int64_t find(const uint64_t *slots, int64_t count, int64_t &outside) noexcept {
    const auto *indices = reinterpret_cast<const Integer *>(slots[0]);
    const std::span sizes(slots + 4, slots[3]);
    size_t axis = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (static_cast<uint64_t>(indices[i]) >= sizes[axis]) {
            outside = static_cast<int64_t>(indices[i]);
            return i;
        }
        if (++axis == sizes.size()) axis = 0;
    }
    return -1;
}

template <typename Signed, typename Unsigned>
int64_t find_either(const uint64_t *slots, int64_t count, int64_t &outside) noexcept {
    const bool is_signed = slots[2] != 0;
    return is_signed ? find<Signed>(slots, count, outside) : find<Unsigned>(slots, count, outside);
}

}  // namespace

int64_t first_outside(const uint64_t *slots, int64_t count, int64_t &outside) noexcept {
    switch (slots[1]) {
        case 1: return find_either<int8_t, uint8_t>(slots, count, outside);
        case 2: return find_either<int16_t, uint16_t>(slots, count, outside);
        case 4: return find_either<int32_t, uint32_t>(slots, count, outside);
    }
    return find_either<int64_t, uint64_t>(slots, count, outside);
}

}  // namespace brimstone
