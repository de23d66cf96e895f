// Arrays: memory that several hold, and that may still have to be computed.
//
// Comes in: how many bytes are wanted, or memory that is somebody else's. Goes out: an `Array`,
// whose memory goes back when nobody holds it any more.
// Never: a look at what is in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "brimstone.h"

namespace brimstone {

class Stream;

enum class State : int32_t { PENDING, READY, FAILED };

// What becomes of memory that is given away: it may be written to; or it stays what it is, since
// somebody may read it, unasked; or another array has been made in it.
enum class Use : int8_t { FREE, LENT, TAKEN };

using Failure = brimstone_failure;

// Who holds an array, what he counts as, and until when:
//
//   a bundle that the user of the core has   SEEN  he leaves it; HELD, if a task still has it
//   a bundle that only tasks have            HELD  the last of them ends
//   an array in its memory: a part of it,    HELD  that array goes
//   or one that has taken its place
//
// So `holders` is `held + seen * 2^32`, with `seen <= held`. Who gives away the one bundle through
// which an array is seen lets it be taken, whoever else holds it: they were asked before.
constexpr int64_t HELD = 1;
constexpr int64_t SEEN = HELD + (int64_t{1} << 32);

// What is asked of every array stands in one line of a cache.
struct Array {
    Array(char *start, size_t size, State begun, int64_t as) noexcept
        : address(start), bytes(size), holders(as), state(begun) {}

    char *address;
    size_t bytes;
    Array *base = nullptr;     // whose memory this is a part of; it is held
    int64_t ticket = 0;        // of memory that is somebody else's
    Stream *stream = nullptr;  // on which it is computed
    std::atomic<int64_t> holders;
    std::atomic<State> state;
    std::atomic<Use> use = Use::FREE;
    std::atomic<bool> is_shared = false;  // there are arrays that are parts of its memory
    Failure failure;                      // to be read when the state says so
};

// New arrays of so many bytes that a stream computes; false if there is no memory for all of them.
bool make(std::span<const int64_t> bytes, Stream *stream, std::span<Array *> made,
          int64_t as = HELD) noexcept;
// A null pointer, if there is no memory to say so.
Array *part_of(Array &base, int64_t offset, size_t bytes, Stream *stream,
               int64_t as = HELD) noexcept;

Array *borrow(void *address, size_t bytes, int64_t ticket, int64_t as = HELD) noexcept;

// Whether a stream may write to the memory of an array that is given away: nobody else sees it, and
// what still reads it was asked of this stream before.
bool can_be_taken(const Array &array, const Stream *stream) noexcept;
// A new array in the memory of one that can be taken, which is told of in a block of its own; a
// null pointer, if somebody was quicker.
Array *take_over(Array &array, void *block, Stream *stream, int64_t as) noexcept;
// As if it had not been taken, before the array that was made in it goes.
void untake(Array &taken) noexcept;
// One more that others see, and whether it seems to be taken: who takes it meanwhile sees that, and
// gives it up.
bool see(Array &array) noexcept;

inline Array *hold(Array *array, int64_t as = HELD) noexcept {
    array->holders.fetch_add(as, std::memory_order_relaxed);
    return array;
}
void drop(std::span<Array *const> arrays, int64_t as = HELD) noexcept;

// Tickets of borrowed memory that nobody uses any more, each once; how many.
size_t returned(std::span<int64_t> tickets) noexcept;
// Where it is not null while there are any.
void *const *are_returned() noexcept;

}  // namespace brimstone

// Arrays that are held together, with their addresses side by side: who computes with them need not
// look at each. Through one of their holders others see them, until he leaves.
struct brimstone_arrays {
    std::atomic<int64_t> holders;
    std::atomic<bool> are_ready;  // if it says so; if not, they may still be
    std::atomic<bool> are_taken;  // one of them may be, whoever asks through these
    bool are_seen;
    uint32_t call;  // on that stream, the one that made them; 0 if none did
    int64_t count;
    brimstone::Stream *stream;  // on which all of them are computed, if it is one
    int64_t program;            // whose results they are, all new and whole; 0 if they are not

    std::span<brimstone::Array *> items() noexcept {
        return {reinterpret_cast<brimstone::Array **>(this + 1), static_cast<size_t>(count)};
    }
    std::span<uint64_t> addresses() noexcept {
        return {reinterpret_cast<uint64_t *>(items().data() + count), static_cast<size_t>(count)};
    }
    void put(size_t place, brimstone::Array *array) noexcept {
        items()[place] = array;
        addresses()[place] = reinterpret_cast<uint64_t>(array->address);
    }
};

namespace brimstone {

// For so many, which are still to be put in; a null pointer if there is no memory.
brimstone_arrays *new_arrays(int64_t count, Stream *stream = nullptr,
                             bool are_seen = false) noexcept;
brimstone_arrays *hold(brimstone_arrays *arrays) noexcept;
void drop(brimstone_arrays *arrays) noexcept;
// Let nobody take them; whether nobody has.
bool lend(brimstone_arrays *arrays) noexcept;
// The same of those that a stream is to read, unless it computes all of a piece itself, and none
// seems to be taken: whoever tried to may have given it up.
bool lend_to(const Stream *stream, std::span<brimstone_arrays *const> pieces) noexcept;
// So many to each, in turn, who sees them from then on; who held these holds them no more. False if
// there is no memory: then nothing has changed, and nothing is dealt.
bool deal(brimstone_arrays *arrays, std::span<const int64_t> counts,
          brimstone_arrays **dealt) noexcept;
// Drop them, and see them no more.
void leave(brimstone_arrays *arrays) noexcept;
// Whether nobody but their only holder has any of them, and nothing computes them any more.
bool are_alone(brimstone_arrays *arrays) noexcept;
// New ones that are still to be computed, where these were, which are alone.
void renew(brimstone_arrays *arrays) noexcept;
bool are_ready(brimstone_arrays *arrays) noexcept;

}  // namespace brimstone
