#include "script.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "inside.hpp"
#include "launch.hpp"
#include "record.hpp"

namespace brimstone {
namespace {

void *pointer(uint64_t address) { return reinterpret_cast<void *>(address); }

// Each round fills as much again as is filled already.
void fill(char *begin, const void *element, size_t size, size_t count) noexcept {
    const size_t bytes = size * count;
    if (bytes == 0) return;
    std::memcpy(begin, element, size);
    for (size_t done = size; done < bytes; done *= 2)
        std::memcpy(begin + done, begin, std::min(done, bytes - done));
}

bool act(Pool &pool, const brimstone_action &action, const brimstone_launch *launches,
         const uint64_t *slots, Failure &failure) noexcept {
    const auto count = static_cast<size_t>(action.count);
    const uint64_t *own = slots + action.first;
    switch (action.kind) {
        case BRIMSTONE_SHARE: return run(&pool, {launches + action.first, count}, slots);
        case BRIMSTONE_ALONE: return run(nullptr, {launches + action.first, count}, slots);
        case BRIMSTONE_COPY: std::memcpy(pointer(own[0]), pointer(own[1]), count); return true;
        case BRIMSTONE_INSIDE:
            failure.place = first_outside(own, action.count, failure.index);
            return failure.place < 0;
    }
    fill(static_cast<char *>(pointer(own[0])), own + 1, static_cast<size_t>(action.size), count);
    return true;
}

}  // namespace

int64_t run(Pool &pool, const brimstone_script &script, const uint64_t *addresses, uint64_t *slots,
            int64_t begin, Time end, Wanted wanted, const void *context,
            Failure &failure) noexcept {
    for (int64_t i = 0; i < script.place_count; ++i) {
        const brimstone_place &place = script.places[i];
        slots[place.slot] = addresses[place.address] + static_cast<uint64_t>(place.offset);
    }
    Notes notes;
    failure.place = -1;
    for (int64_t i = begin; i < script.action_count; ++i) {
        const brimstone_action &action = script.actions[i];
        if (!act(pool, action, script.launches, slots, failure)) {
            failure.script = script.number;
            failure.action = i;
            return -1;
        }
        notes.note(script.number, i);
        if (stopping()) return i;
        if (action.size == 0) continue;
        if (!wanted(context)) break;
        if (Clock::now() > end) return i + 1;
    }
    return script.action_count;
}

}  // namespace brimstone
