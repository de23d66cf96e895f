#include "task.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "launch.hpp"
#include "program.hpp"
#include "script.hpp"
#include "stream.hpp"

namespace brimstone {
namespace {

size_t size(int64_t count) noexcept { return static_cast<size_t>(count); }

}  // namespace

Task::Task(Program &called, size_t its_home)
    : program(called),
      home(its_home),
      addresses(size(1 + called.plan().input_count + called.plan().made_count)),
      slots(called.plan().slots, called.plan().slots + called.plan().slot_count) {}

bool Task::run(Pool &pool, Stream &stream, Time end) noexcept {
    const brimstone_plan &plan = program.plan();
    if (!begun_) {
        if (!inputs_are_ready(stream, end)) return false;
        begin();
    }
    if (!failed_) {
        using Asked = std::pair<const Task *, Stream *>;
        const Asked about = {this, &stream};
        const auto wanted = [](const void *context) {
            const auto &[task, of] = *static_cast<const Asked *>(context);
            return of->wants(*task);
        };
        {
            const Turn turn(pool);
            position_ = brimstone::run(pool, plan.script, addresses.data(), slots.data(), position_,
                                      end, wanted, &about, failure_);
        }
        if (position_ < 0) {
            failed_ = true;
        } else if (stopping() && plan.replaced_count > 0) {
            failed_ = true;  // an action may be half done, and what it is given is gone
            failure_ = {plan.script.number, position_, BRIMSTONE_ENDED, 0};
        } else if (stopping()) {
            position_ = 0;  // an action may be half done
            return false;
        } else if (position_ < plan.script.action_count) {
            return false;
        }
    }
    drop_inputs();
    settle(failed_ ? State::FAILED : State::READY);
    return true;
}

// Who sees that it is done may call the next one at once, which finds the memory of this one free.
void Task::drop_inputs() noexcept {
    for (brimstone_arrays *piece : pieces) drop(piece);
    pieces.clear();
    if (arena) drop({&arena, 1});
    arena = nullptr;
}

bool Task::is_wanted() const noexcept {
    if (results->holders.load(std::memory_order_acquire) > 1) return true;
    return std::ranges::any_of(results->items(), [](const Array *array) {
        return array->holders.load(std::memory_order_relaxed) > 1;
    });
}

bool Task::can_begin() const noexcept {
    return std::ranges::all_of(pieces, [](brimstone_arrays *piece) {
        return are_ready(piece) || std::ranges::all_of(piece->items(), [](const Array *array) {
            return array->state.load(std::memory_order_acquire) != State::PENDING;
        });
    });
}

// Those that this stream computes are: it does so in order.
bool Task::inputs_are_ready(Stream &stream, Time end) noexcept {
    for (brimstone_arrays *piece : pieces) {
        if (are_ready(piece)) continue;
        for (Array *array : piece->items()) {
            while (array->state.load(std::memory_order_acquire) == State::PENDING) {
                if (array->stream == &stream || Clock::now() > end || stopping()) return false;
                if (!stream.wants(*this)) {
                    failed_ = true;
                    return true;
                }
                array->stream->wait_for_another(*array);
            }
            if (array->state.load(std::memory_order_acquire) == State::FAILED && !failed_) {
                failed_ = true;
                failure_ = array->failure;
            }
        }
    }
    return true;
}

void Task::begin() noexcept {
    begun_ = true;
    if (failed_) return;
    for (const Copy &copy : copies_) std::memcpy(copy.to->address, copy.from, copy.to->bytes);
    const brimstone_plan &plan = program.plan();
    for (const brimstone_number &number : std::span(plan.numbers, size(plan.number_count))) {
        const void *from = reinterpret_cast<const void *>(addresses[size(number.address)]);
        slots[size(number.slot)] = 0;
        std::memcpy(&slots[size(number.slot)], from, size(number.bytes));
    }
}

std::span<uint64_t> Task::made_addresses() noexcept {
    return std::span(addresses).subspan(size(1 + program.plan().input_count));
}

// Of the results, some may be what the task was given, which stays what it is.
void Task::settle(State state) noexcept {
    for (Array *array : results->items()) {
        if (array->state.load(std::memory_order_relaxed) != State::PENDING) continue;
        if (state == State::FAILED) array->failure = failure_;
        array->state.store(state, std::memory_order_release);
    }
    if (state == State::READY) results->are_ready.store(true, std::memory_order_release);
}

}  // namespace brimstone
