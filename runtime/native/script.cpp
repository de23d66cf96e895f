#include "script.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "inside.hpp"
#include "launch.hpp"
#include "record.hpp"

namespace brimstone {
namespace {

// After so much work in loops, whose rounds may be short, somebody looks whether it is to end.
constexpr int64_t OFTEN = int64_t{4} << 20;

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
        case BRIMSTONE_INSIDE: {
            const int64_t place = first_outside(own, action.count, failure.index);
            if (place < 0) return true;
            failure.place = place;
            return false;
        }
        case BRIMSTONE_STORE: std::memcpy(pointer(own[0]), own + 1, count); return true;
        case BRIMSTONE_FILL: {
            const auto size = static_cast<size_t>(action.size);
            fill(static_cast<char *>(pointer(own[0])), own + 1, size, count);
            return true;
        }
    }
    __builtin_unreachable();  // the others say which action is next
}

// Whether there is a round of a loop with this index, which then begins.
bool begin_round(const brimstone_script &script, const brimstone_loop &loop, int64_t index,
                 uint64_t *slots) noexcept {
    if (index == loop.end) return false;
    slots[loop.slot] = static_cast<uint64_t>(index);
    const auto count = static_cast<size_t>(loop.move_count);
    for (const brimstone_move &move : std::span(script.moves + loop.first_move, count))
        slots[move.slot] = slots[move.origin] + static_cast<uint64_t>(index * move.stride);
    return true;
}

// The action after one that says which.
int64_t follow(const brimstone_script &script, int64_t at, uint64_t *slots) noexcept {
    const brimstone_action &action = script.actions[at];
    const int64_t next = at + 1, other = at + action.count;
    switch (action.kind) {
        case BRIMSTONE_LOOP: {
            const brimstone_loop &loop = script.loops[action.first];
            return begin_round(script, loop, loop.begin, slots) ? next : other;
        }
        case BRIMSTONE_NEXT: {
            const brimstone_loop &loop = script.loops[action.first];
            const int64_t index = static_cast<int64_t>(slots[loop.slot]) + loop.step;
            return begin_round(script, loop, index, slots) ? other : next;
        }
        case BRIMSTONE_UNLESS:
            return *static_cast<const char *>(pointer(slots[action.first])) ? next : other;
        case BRIMSTONE_JUMP: return other;
    }
    __builtin_unreachable();  // the others do something
}

}  // namespace

int64_t run(Pool &pool, const brimstone_script &script, const uint64_t *addresses, uint64_t *slots,
            int64_t begin, Time end, Wanted wanted, const void *context,
            Failure &failure) noexcept {
    for (const brimstone_place &place :
         std::span(script.places, static_cast<size_t>(script.place_count)))
        slots[place.slot] = addresses[place.address] + static_cast<uint64_t>(place.offset);
    Notes notes;
    failure.place = BRIMSTONE_NO_MEMORY;
    int64_t work = 0;  // of rounds of loops, since the last look
    for (int64_t i = begin; i < script.action_count;) {
        const brimstone_action &action = script.actions[i];
        if (action.kind >= BRIMSTONE_LOOP) {
            if (stopping()) return i;
            i = follow(script, i, slots);
            work += action.size;
            if (work < OFTEN) continue;
            work = 0;
        } else {
            if (!act(pool, action, script.launches, slots, failure)) {
                failure.script = script.number;
                failure.action = i;
                return -1;
            }
            notes.note(script.number, i);
            if (stopping()) return i;
            ++i;
            if (action.size == 0) continue;
        }
        if (!wanted(context)) break;
        if (Clock::now() > end) return i;
    }
    return script.action_count;
}

}  // namespace brimstone
