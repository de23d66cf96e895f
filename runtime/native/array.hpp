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

namespace brimstone {

class Stream;

enum class State : int32_t { PENDING, READY, FAILED };

// Which action of which script could not be done.
struct Failure {
    int64_t script = 0;
    int64_t action = 0;
};

struct Array {
    char *address;
    size_t bytes;
    Array *base;      // whose memory this is a part of; it is held
    int64_t ticket;   // of memory that is somebody else's, else 0
    Stream *stream;   // on which it is computed
    Failure failure;  // to be read when the state says so
    std::atomic<State> state;
    std::atomic<int64_t> holders;
};

// New arrays of so many bytes that a stream computes; false if there is no memory for all of them.
bool make(std::span<const int64_t> bytes, Stream *stream, std::span<Array *> made) noexcept;
// A null pointer, if there is no memory to say so.
Array *part_of(Array &base, int64_t offset, size_t bytes, Stream *stream) noexcept;
Array *borrow(void *address, size_t bytes, int64_t ticket) noexcept;

inline Array *hold(Array *array) noexcept {
    array->holders.fetch_add(1, std::memory_order_relaxed);
    return array;
}
void drop(std::span<Array *const> arrays) noexcept;

// Tickets of borrowed memory that nobody uses any more, each once; how many.
size_t returned(std::span<int64_t> tickets) noexcept;

}  // namespace brimstone

// Arrays that are held together, with their addresses side by side: who computes with them need not
// look at each.
struct brimstone_arrays {
    std::atomic<int64_t> holders;
    std::atomic<bool> are_ready;  // if it says so; if not, they may still be
    int64_t count;

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
brimstone_arrays *new_arrays(int64_t count) noexcept;
brimstone_arrays *hold(brimstone_arrays *arrays) noexcept;
void drop(brimstone_arrays *arrays) noexcept;
bool are_ready(brimstone_arrays *arrays) noexcept;

}  // namespace brimstone
