// The functions of brimstone.h, each as the part of the core that does it.
#include <algorithm>
#include <new>
#include <span>

#include "array.hpp"
#include "brimstone.h"
#include "clock.hpp"
#include "dealer.hpp"
#include "door.hpp"
#include "held.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "pack.hpp"
#include "pool.hpp"
#include "program.hpp"
#include "record.hpp"
#include "script.hpp"
#include "stream.hpp"
#include "streams.hpp"
#include "tape.hpp"

using brimstone::Array;
using brimstone::SEEN;
using brimstone::State;

struct brimstone_threads {
    brimstone::Pool pool;
};

struct brimstone_program : brimstone::Program {
    using Program::Program;
};

namespace {

brimstone_arrays *alone(Array *array) {
    if (!array) return nullptr;
    brimstone_arrays *made = brimstone::new_arrays(1, nullptr, true);
    if (made)
        made->put(0, array);
    else
        brimstone::drop({&array, 1}, SEEN);
    return made;
}

brimstone::Stream &stream_of(brimstone_stream *stream) {
    return *reinterpret_cast<brimstone::Stream *>(stream);
}

// What is gone is dropped, but for what the program can make its next results of.
brimstone_arrays *drop_but_spare(std::span<brimstone_arrays *const> gone,
                                 const brimstone::Program &program,
                                 const brimstone::Stream &stream) {
    brimstone_arrays *spare = nullptr;
    for (brimstone_arrays *arrays : gone) {
        if (!spare && program.can_use_again(arrays, &stream))
            spare = arrays;
        else
            brimstone::leave(arrays);
    }
    return spare;
}

// Others see some arrays through these, too, from a place on; whether one was taken before.
bool show(brimstone_arrays &through, size_t place, std::span<Array *const> arrays) {
    bool are_taken = false;
    for (Array *array : arrays) {
        are_taken |= brimstone::see(*array);
        through.put(place++, array);
    }
    return are_taken;
}

// Whether all are there; who asks reads them then.
bool are_there(brimstone_arrays *arrays) {
    if (!brimstone::are_ready(arrays)) return false;
    if (arrays->stream) arrays->stream->note_reading(arrays->call);
    return true;
}

// Wait until all are computed, for some 20 milliseconds at most; what became of them.
int32_t wait(brimstone_arrays *arrays) {
    if (are_there(arrays)) return BRIMSTONE_READY;
    const auto end = brimstone::Clock::now() + brimstone::LOOKS_EVERY;
    for (Array *array : arrays->items()) {
        State state = array->state.load(std::memory_order_acquire);
        if (state == State::PENDING && brimstone::Clock::now() < end) {
            array->stream->wait(*array);
            state = array->state.load(std::memory_order_acquire);
        }
        if (state == State::PENDING)
            return brimstone::stopping() ? BRIMSTONE_STOPPED : BRIMSTONE_PENDING;
        if (state == State::FAILED) return BRIMSTONE_FAILED;
    }
    return BRIMSTONE_READY;
}

bool admits(brimstone::Stream &stream, const brimstone::Program &program) {
    return stream.admits(program) || brimstone::stopping();
}

}  // namespace

const char *brimstone_version(void) { return BRIMSTONE_VERSION; }

int64_t brimstone_clock(void) { return brimstone::now(); }

brimstone_threads *brimstone_new_threads(int32_t count) {
    return new (std::nothrow) brimstone_threads{brimstone::Pool(count)};
}

int64_t brimstone_run(brimstone_threads *threads, const brimstone_script *script,
                      const uint64_t *addresses, uint64_t *slots, int64_t begin,
                      brimstone_failure *failure) {
    const brimstone::Visit visit;
    const auto end = brimstone::Clock::now() + brimstone::LOOKS_EVERY;
    const auto always = [](const void *) { return true; };
    const brimstone::Turn turn(threads->pool);
    return brimstone::run(threads->pool, *script, addresses, slots, begin, end, always, nullptr,
                          *failure);
}

void brimstone_stop(void) { brimstone::end_streams(); }

void brimstone_leave(brimstone_arrays *arrays) { brimstone::leave(arrays); }

brimstone_arrays *brimstone_empty(int64_t bytes) {
    Array *made = nullptr;
    return brimstone::make({&bytes, 1}, nullptr, {&made, 1}, SEEN) ? alone(made) : nullptr;
}

brimstone_arrays *brimstone_borrow(void *address, int64_t bytes, int64_t ticket) {
    return alone(brimstone::borrow(address, static_cast<size_t>(bytes), ticket, SEEN));
}

brimstone_arrays *brimstone_failed(int64_t bytes, int64_t script) {
    brimstone_arrays *made = brimstone_empty(bytes);
    if (!made) return nullptr;
    Array &array = *made->items()[0];
    array.failure = {script, -1, BRIMSTONE_RAISED, 0};
    array.state.store(State::FAILED, std::memory_order_release);
    return made;
}

int64_t brimstone_returned(int64_t *tickets, int64_t most) {
    return static_cast<int64_t>(brimstone::returned({tickets, static_cast<size_t>(most)}));
}

void *const *brimstone_are_returned(void) { return brimstone::are_returned(); }

brimstone_arrays *brimstone_part(brimstone_arrays *arrays, int64_t begin, int64_t end) {
    brimstone_arrays *made = brimstone::new_arrays(end - begin, arrays->stream, true);
    if (!made) return nullptr;
    const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
    bool are_taken = arrays->are_taken.load(std::memory_order_acquire);
    are_taken |= show(*made, 0, arrays->items().subspan(first, count));
    made->are_taken.store(are_taken, std::memory_order_release);
    made->call = arrays->call;
    return made;
}

brimstone_arrays *brimstone_join(brimstone_arrays *const *pieces, int64_t count) {
    const std::span given(pieces, static_cast<size_t>(count));
    int64_t total = 0;
    for (const brimstone_arrays *each : given) total += each->count;
    brimstone_arrays *made = brimstone::new_arrays(total, nullptr, true);
    if (!made) return nullptr;
    bool are_taken = false;
    size_t place = 0;
    for (brimstone_arrays *each : given) {
        are_taken |= each->are_taken.load(std::memory_order_acquire);
        are_taken |= show(*made, place, each->items());
        place += each->items().size();
    }
    made->are_taken.store(are_taken, std::memory_order_release);
    return made;
}

int32_t brimstone_lend(brimstone_arrays *arrays) { return brimstone::lend(arrays); }

void *brimstone_address(brimstone_arrays *arrays, int64_t index) {
    return arrays->items()[static_cast<size_t>(index)]->address;
}

int32_t brimstone_wait(brimstone_arrays *arrays) {
    const brimstone::Visit visit;
    return wait(arrays);
}

void *brimstone_read(brimstone_arrays *arrays) {
    const brimstone::Visit visit;
    const bool is_there = brimstone_lend(arrays) && wait(arrays) == BRIMSTONE_READY;
    return is_there ? brimstone_address(arrays, 0) : nullptr;
}

void *brimstone_peek(brimstone_arrays *arrays) {
    const bool is_there = are_there(arrays) && brimstone_lend(arrays);
    return is_there ? brimstone_address(arrays, 0) : nullptr;
}

brimstone_failure brimstone_why(brimstone_arrays *arrays) {
    for (Array *array : arrays->items())
        if (array->state.load(std::memory_order_acquire) == State::FAILED)
            return array->failure;
    return {};
}

brimstone_program *brimstone_new_program(const brimstone_plan *plan) {
    try {
        return new brimstone_program(*plan);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

int32_t brimstone_end_program(brimstone_program *program) {
    if (program && program->under_way()) return 0;
    delete program;
    return 1;
}

brimstone_stream *brimstone_open_stream(brimstone_threads *threads) {
    return reinterpret_cast<brimstone_stream *>(brimstone::open_stream(threads->pool));
}

void brimstone_close_stream(brimstone_stream *stream) {
    if (stream) brimstone::close_stream(&stream_of(stream));
}

int32_t brimstone_are_sound(brimstone_stream *stream, brimstone_arrays *const *pieces,
                            int64_t count) {
    const brimstone::Stream *own = &stream_of(stream);
    const auto is_sound = [own](const Array *array) {
        const State state = array->state.load(std::memory_order_acquire);
        return state == State::READY || (state == State::PENDING && array->stream == own);
    };
    const std::span given(pieces, static_cast<size_t>(count));
    return std::ranges::all_of(given, [&](brimstone_arrays *piece) {
        return brimstone::are_ready(piece) || std::ranges::all_of(piece->items(), is_sound);
    });
}

int32_t brimstone_admit(brimstone_stream *stream, brimstone_program *program) {
    const brimstone::Visit visit;
    return admits(stream_of(stream), *program);
}

int32_t brimstone_puts_off(brimstone_stream *stream, brimstone_program *program) {
    return stream_of(stream).puts_off(*program);
}

int32_t brimstone_call(brimstone_stream *stream, brimstone_program *program,
                       brimstone_arrays *const *pieces, int64_t gone_count, int64_t piece_count,
                       int32_t given_away, int32_t is_put_off, const brimstone_deal *deal,
                       brimstone_arrays **dealt) {
    brimstone::Stream &own = stream_of(stream);
    const std::span gone(pieces, static_cast<size_t>(gone_count));
    const std::span given(pieces + gone_count, static_cast<size_t>(piece_count));
    brimstone_arrays *spare = drop_but_spare(gone, *program, own);
    if (!admits(own, *program)) {
        brimstone::leave(spare);
        return BRIMSTONE_LATER;
    }
    if (!brimstone::lend_to(&own, given)) {
        brimstone::leave(spare);
        return BRIMSTONE_DONATED;
    }
    brimstone::Task *task = program->call(given, &own, given_away != 0, spare);
    if (!task) return BRIMSTONE_OUT_OF_MEMORY;
    brimstone_arrays *results = brimstone::hold(task->results);
    own.push(*task, is_put_off != 0);
    const std::span parts(deal->counts, static_cast<size_t>(deal->count));
    if (brimstone::deal(results, parts, dealt)) return BRIMSTONE_DONE;
    brimstone::leave(results);
    return BRIMSTONE_OUT_OF_MEMORY;
}

int32_t brimstone_idle(brimstone_stream *stream) {
    const brimstone::Visit visit;
    return stream_of(stream).wait_for_all() || brimstone::stopping();
}

brimstone_use brimstone_memory(void) {
    const auto number = [](size_t count) { return static_cast<int64_t>(count); };
    const brimstone::Blocks &blocks = brimstone::blocks();
    const auto use = blocks.statistics();
    return {number(use.in_use), number(use.peak_in_use), number(use.kept),
            number(blocks.keep_at_most()), number(use.taken_from_system)};
}

brimstone_room brimstone_look(const char *root) {
    const brimstone::Room room = brimstone::look(root);
    return {room.left, room.total, room.swap};
}

void brimstone_record(int32_t wanted) { brimstone::record(wanted != 0); }

int64_t brimstone_events(brimstone_event *events, int64_t most) {
    return static_cast<int64_t>(brimstone::take_events({events, static_cast<size_t>(most)}));
}

int64_t brimstone_pack(brimstone_interval *intervals, int64_t count) {
    try {
        return brimstone::pack({intervals, static_cast<size_t>(count)});
    } catch (const std::bad_alloc &) {
        return -1;
    }
}

int32_t brimstone_replay(const brimstone_tape *tape, const int64_t *given, int64_t *words) {
    try {
        return brimstone::replay(*tape, given, words) ? BRIMSTONE_DONE : BRIMSTONE_OTHERWISE;
    } catch (const std::bad_alloc &) {
        return BRIMSTONE_OUT_OF_MEMORY;
    }
}

void *brimstone_python(int64_t head) {
    brimstone::head = static_cast<size_t>(head);
    return Py_BuildValue("NN", brimstone::new_held_type(), brimstone::new_dealer_type());
}
