// Programs that add, and the arrays that they work on.
//
// Comes in: how much to add, and how long that is to take. Goes out: a program from one array of
// numbers to one array more.
// Never: a sum that somebody else could have come to.
#pragma once

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "brimstone.h"
#include "program.hpp"
#include "stream.hpp"

namespace brimstone {

constexpr size_t NUMBERS = 8;
constexpr int64_t BYTES = NUMBERS * sizeof(int64_t);

// Slots: the array to read, the one to write, the addend, milliseconds to sleep.
inline void add(const uint64_t *slots, const int64_t *, const int64_t *) {
    const auto *from = reinterpret_cast<const int64_t *>(slots[0]);
    auto *to = reinterpret_cast<int64_t *>(slots[1]);
    if (slots[3] > 0) std::this_thread::sleep_for(std::chrono::milliseconds(slots[3]));
    for (size_t i = 0; i < NUMBERS; ++i) to[i] = from[i] + static_cast<int64_t>(slots[2]);
}

// Adds as often as there are actions; all but the last sum lie in the arena.
struct Adding {
    explicit Adding(int64_t addend, int64_t milliseconds = 0, int64_t work = 0, int64_t times = 1) {
        const auto count = static_cast<size_t>(times);
        slots.resize(4 * count);
        for (size_t i = 0; i < count; ++i) {
            const auto first = static_cast<int64_t>(4 * i);
            const bool is_first = i == 0, is_last = i + 1 == count;
            slots[4 * i + 2] = static_cast<uint64_t>(addend);
            slots[4 * i + 3] = static_cast<uint64_t>(milliseconds);
            places.push_back({first, is_first ? 1 : 0, 0});
            places.push_back({first + 1, is_last ? 2 : 0, 0});
            launches.push_back({add, nullptr, 0, 0, first, 4, {1, 1, 1}, 0, 1, 0});
            actions.push_back({BRIMSTONE_ALONE, static_cast<int64_t>(i), 1, milliseconds});
        }
        plan.script = {places.data(), actions.data(), launches.data(), nullptr, nullptr,
                       static_cast<int64_t>(places.size()), times, 0};
        plan.slots = slots.data();
        plan.slot_count = static_cast<int64_t>(slots.size());
        plan.made = &made;
        plan.results = results.data();
        plan.input_count = plan.made_count = plan.result_count = 1;
        plan.arena = times > 1 ? BYTES : 0;
        plan.work = work;
        plan.script.number = 7;
    }
    Adding(const Adding &) = delete;
    Adding &operator=(const Adding &) = delete;

    // The sum takes the place of what is given.
    void replace() {
        for (brimstone_place &place : places)
            if (place.address == 2) place.address = 1;
        plan.made_count = 0;
        plan.replaced = &replaced;
        plan.replaced_count = 1;
    }

    std::vector<uint64_t> slots;
    std::vector<brimstone_place> places;
    std::vector<brimstone_launch> launches;
    std::vector<brimstone_action> actions;
    int64_t made = BYTES, replaced = 0;
    std::vector<brimstone_result> results = {{2, 0, BYTES, 1}};
    brimstone_plan plan = {};
};

inline brimstone_arrays *zeros() {
    brimstone_arrays *made = new_arrays(1, nullptr, true);
    make({&BYTES, 1}, nullptr, made->items(), SEEN);
    made->put(0, made->items()[0]);
    std::fill_n(reinterpret_cast<int64_t *>(made->items()[0]->address), NUMBERS, 0);
    return made;
}

// The same arrays, seen once more.
inline brimstone_arrays *again(brimstone_arrays *arrays) {
    const auto items = arrays->items();
    brimstone_arrays *made = new_arrays(arrays->count, arrays->stream, true);
    for (size_t i = 0; i < items.size(); ++i) made->put(i, hold(items[i], SEEN));
    return made;
}

// What `brimstone_call` does; the arrays that it is given are given away.
inline brimstone_arrays *ask(Stream &stream, Program &program, brimstone_arrays *given,
                             brimstone_arrays *spare = nullptr) {
    while (!stream.admits(program)) {
    }
    check(lend_to(&stream, {&given, 1}));
    const bool is_put_off = stream.puts_off(program);
    Task *task = program.call({&given, 1}, &stream, true, spare);
    brimstone_arrays *made = hold(task->results);
    stream.push(*task, is_put_off);
    return made;
}

// And seen no more.
inline brimstone_arrays *call(Stream &stream, Program &program, brimstone_arrays *given,
                              brimstone_arrays *spare = nullptr) {
    brimstone_arrays *made = ask(stream, program, given, spare);
    leave(given);
    return made;
}

// What `brimstone_wait` does, until it is there.
inline State wait(const brimstone_arrays *arrays) {
    const Array &array = *const_cast<brimstone_arrays *>(arrays)->items()[0];
    if (array.stream && array.state.load() == State::READY)
        array.stream->note_reading(arrays->call);
    while (array.state.load() == State::PENDING) array.stream->wait(array);
    return array.state.load();
}

// The number that all are equal to, or -1; the array is dropped.
inline int64_t number(brimstone_arrays *arrays) {
    if (wait(arrays) != State::READY) return -1;
    const auto *numbers = reinterpret_cast<const int64_t *>(arrays->items()[0]->address);
    int64_t found = numbers[0];
    for (size_t i = 0; i < NUMBERS; ++i)
        if (numbers[i] != found) found = -1;
    leave(arrays);
    return found;
}

inline void settle(const Program &program) {
    while (program.under_way()) std::this_thread::yield();
}

}  // namespace brimstone
