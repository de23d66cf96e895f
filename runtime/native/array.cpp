#include "array.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "memory.hpp"

namespace brimstone {
namespace {

constexpr size_t AT_ONCE = 256;

// What is said of an array of no more bytes lies behind them, in the same block.
constexpr size_t SMALL = 4096;
constexpr size_t LINE = 64;

size_t lines(size_t bytes) noexcept { return (bytes + LINE - 1) / LINE * LINE; }

// Borrowed arrays that nobody holds any more, each with the one before it as its base.
std::atomic<Array *> given_back = nullptr;

Array *place(void *block, void *address, size_t bytes, State state, int64_t as) noexcept {
    if (!block) return nullptr;
    auto *start = static_cast<char *>(address);
    return new (block) Array(start, bytes, state, as);
}

// Let go of an array; whether its holder was the last.
bool was_last(Array &array, int64_t as) noexcept {
    if (array.holders.load(std::memory_order_acquire) == as) return true;
    return array.holders.fetch_sub(as, std::memory_order_acq_rel) == as;
}

bool is_seen_once(const Array &array) noexcept { return array.holders / (SEEN - HELD) == 1; }

// Whose memory it is.
Array &root(Array &array) noexcept { return array.base ? *array.base : array; }

void give_back(Array *array) noexcept {
    array->base = given_back.load(std::memory_order_relaxed);
    while (!given_back.compare_exchange_weak(array->base, array, std::memory_order_release)) {
    }
}

size_t bytes_of(int64_t count) noexcept {
    constexpr size_t EACH = sizeof(Array *) + sizeof(uint64_t);
    return sizeof(brimstone_arrays) + static_cast<size_t>(count) * EACH;
}

}  // namespace

bool make(std::span<const int64_t> bytes, Stream *stream, std::span<Array *> made,
          int64_t as) noexcept {
    std::array<Block, 2 * AT_ONCE> room;
    for (size_t done = 0; done < bytes.size(); done += AT_ONCE) {
        const size_t end = std::min(done + AT_ONCE, bytes.size());
        size_t count = 0;
        for (size_t i = done; i < end; ++i) {
            const auto size = static_cast<size_t>(bytes[i]);
            room[count++] = {nullptr, size <= SMALL ? lines(size) + sizeof(Array) : size};
            if (size > SMALL) room[count++] = {nullptr, sizeof(Array)};
        }
        if (!blocks().take(std::span(room).first(count))) {
            drop(made.first(done), as);
            return false;
        }
        const Block *next = room.data();
        for (size_t i = done; i < end; ++i) {
            const auto size = static_cast<size_t>(bytes[i]);
            char *address = static_cast<char *>((next++)->start);
            void *record = size <= SMALL ? address + lines(size) : (next++)->start;
            made[i] = place(record, address, size, stream ? State::PENDING : State::READY, as);
            made[i]->stream = stream;
        }
    }
    return true;
}

Array *part_of(Array &base, int64_t offset, size_t bytes, Stream *stream, int64_t as) noexcept {
    char *address = base.address + offset;
    Array *made = place(blocks().take(sizeof(Array)), address, bytes, State::PENDING, as);
    if (!made) return nullptr;
    made->base = hold(&root(base));
    made->base->is_shared.store(true, std::memory_order_relaxed);
    made->stream = stream;
    return made;
}

bool can_be_taken(const Array &array, const Stream *stream) noexcept {
    if (array.stream != stream || array.use.load(std::memory_order_acquire) != Use::FREE)
        return false;
    const Array &owner = array.base ? *array.base : array;
    return !owner.ticket && is_seen_once(array) && !owner.is_shared.load(std::memory_order_acquire);
}

Array *take_over(Array &array, void *block, Stream *stream, int64_t as) noexcept {
    Use use = Use::FREE;
    if (!array.use.compare_exchange_strong(use, Use::TAKEN)) return nullptr;
    if (!is_seen_once(array)) {
        array.use.store(Use::FREE);
        return nullptr;
    }
    Array *made = place(block, array.address, array.bytes, State::PENDING, as);
    made->base = hold(&root(array));
    made->stream = stream;
    return made;
}

void untake(Array &taken) noexcept { taken.use.store(Use::FREE, std::memory_order_release); }

bool see(Array &array) noexcept {
    array.holders.fetch_add(SEEN);
    return array.use.load() == Use::TAKEN;
}

Array *borrow(void *address, size_t bytes, int64_t ticket, int64_t as) noexcept {
    Array *made = place(blocks().take(sizeof(Array)), address, bytes, State::READY, as);
    if (made) made->ticket = ticket;
    return made;
}

void drop(std::span<Array *const> arrays, int64_t as) noexcept {
    std::array<Block, 2 * AT_ONCE> unused;
    size_t count = 0;
    for (Array *array : arrays) {
        for (int64_t part = as; array && was_last(*array, part); part = HELD) {
            const bool is_own = !array->base;
            Array *base = array->base;
            if (array->ticket) {
                give_back(array);
                break;
            }
            if (count + 2 > unused.size()) {
                blocks().give(std::span(unused).first(count));
                count = 0;
            }
            if (is_own && array->bytes <= SMALL) {
                unused[count++] = {array->address, lines(array->bytes) + sizeof(Array)};
            } else {
                if (is_own) unused[count++] = {array->address, array->bytes};
                unused[count++] = {array, sizeof(Array)};
            }
            array = base;
        }
    }
    blocks().give(std::span(unused).first(count));
}

size_t returned(std::span<int64_t> tickets) noexcept {
    Array *array = given_back.exchange(nullptr, std::memory_order_acquire);
    size_t count = 0;
    for (; array && count < tickets.size(); ++count) {
        tickets[count] = array->ticket;
        blocks().give(std::exchange(array, array->base), sizeof(Array));
    }
    while (array) give_back(std::exchange(array, array->base));
    return count;
}

void *const *are_returned() noexcept {
    static_assert(sizeof given_back == sizeof(void *) && decltype(given_back)::is_always_lock_free);
    return reinterpret_cast<void *const *>(&given_back);
}

brimstone_arrays *new_arrays(int64_t count, Stream *stream, bool are_seen) noexcept {
    void *block = blocks().take(bytes_of(count));
    if (!block) return nullptr;
    auto *made = new (block) brimstone_arrays{1, false, false, are_seen, 0, count, stream, 0};
    std::ranges::fill(made->items(), nullptr);
    return made;
}

brimstone_arrays *hold(brimstone_arrays *arrays) noexcept {
    arrays->holders.fetch_add(1, std::memory_order_relaxed);
    return arrays;
}

bool are_ready(brimstone_arrays *arrays) noexcept {
    if (arrays->are_ready.load(std::memory_order_acquire)) return true;
    for (const Array *array : arrays->items())
        if (array->state.load(std::memory_order_acquire) != State::READY) return false;
    arrays->are_ready.store(true, std::memory_order_release);
    return true;
}

void drop(brimstone_arrays *arrays) noexcept {
    if (!arrays || arrays->holders.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    drop(arrays->items(), arrays->are_seen ? SEEN : HELD);
    blocks().give(arrays, bytes_of(arrays->count));
}

bool lend(brimstone_arrays *arrays) noexcept {
    bool is_there = true;
    for (Array *array : arrays->items()) {
        Use use = array->use.load(std::memory_order_acquire);  // which leaves the line to others
        if (use == Use::FREE)
            array->use.compare_exchange_strong(use, Use::LENT, std::memory_order_acq_rel);
        is_there = is_there && (use == Use::FREE || use == Use::LENT);
    }
    return is_there;
}

bool lend_to(const Stream *stream, std::span<brimstone_arrays *const> pieces) noexcept {
    return std::ranges::all_of(pieces, [=](brimstone_arrays *piece) {
        const bool may_be_taken = piece->are_taken.load(std::memory_order_acquire);
        return (piece->stream == stream && !may_be_taken) || lend(piece);
    });
}

bool deal(brimstone_arrays *arrays, std::span<const int64_t> counts,
          brimstone_arrays **dealt) noexcept {
    // Whoever held these alone gives them away; from others only that they are seen is taken.
    const bool are_alone = arrays->holders.load(std::memory_order_acquire) == 1;
    if (are_alone && counts.size() == 1) {
        dealt[0] = arrays;
        return true;
    }
    for (size_t i = 0; i < counts.size(); ++i) {
        dealt[i] = new_arrays(counts[i], arrays->stream, true);
        if (dealt[i]) continue;
        while (i > 0) drop(std::exchange(dealt[--i], nullptr));
        return false;
    }
    Array **next = arrays->items().data();
    for (size_t i = 0; i < counts.size(); ++i) {
        dealt[i]->are_taken.store(arrays->are_taken.load(std::memory_order_acquire));
        dealt[i]->are_ready.store(arrays->are_ready.load(std::memory_order_acquire));
        dealt[i]->call = arrays->call;
        for (size_t place = 0; place < static_cast<size_t>(counts[i]); ++place, ++next) {
            dealt[i]->put(place, *next);
            if (are_alone)
                *next = nullptr;
            else
                hold(*next);
        }
    }
    arrays->are_seen = false;
    drop(arrays);
    return true;
}

void leave(brimstone_arrays *arrays) noexcept {
    if (!arrays) return;
    // Of those that are taken nobody asks any more who sees them: the last holder says so.
    const bool matters = arrays->are_seen && !arrays->are_taken.load(std::memory_order_acquire);
    if (matters && arrays->holders.load(std::memory_order_acquire) > 1) {
        for (Array *array : arrays->items())
            array->holders.fetch_sub(SEEN - HELD, std::memory_order_acq_rel);
        arrays->are_seen = false;
    }
    drop(arrays);
}

bool are_alone(brimstone_arrays *arrays) noexcept {
    if (arrays->holders.load(std::memory_order_acquire) > 1 || !are_ready(arrays)) return false;
    const int64_t held = arrays->are_seen ? SEEN : HELD;
    return std::ranges::all_of(arrays->items(), [=](const Array *array) {
        return array->holders.load(std::memory_order_acquire) == held;
    });
}

void renew(brimstone_arrays *arrays) noexcept {
    for (Array *array : arrays->items()) {
        array->state.store(State::PENDING, std::memory_order_relaxed);
        array->use.store(Use::FREE, std::memory_order_relaxed);
        array->is_shared.store(false, std::memory_order_relaxed);
    }
    arrays->are_ready.store(false, std::memory_order_relaxed);
    arrays->are_taken.store(false, std::memory_order_relaxed);
}

}  // namespace brimstone
