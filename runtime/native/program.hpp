// Programs, and the tasks that are calls of them.
//
// Comes in: a plan; for each call the arrays that it is given. Goes out: arrays that are computed
// when the task is done.
// Never: memory that is missing when a task is under way, but what kernels need while they run.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "array.hpp"
#include "brimstone.h"
#include "pool.hpp"
#include "script.hpp"

namespace brimstone {

class Program;

// A call of a program. Its slots are those of the call before, so that only what differs is set.
struct Task {
    explicit Task(Program &called);

    // Whether all that it is given is computed.
    bool can_begin() const noexcept;
    // Whether it is done, one way or the other; if not, it is to be run again.
    bool run(Pool &pool, Stream &stream, Time end) noexcept;
    // Whether somebody but this task holds a result.
    bool is_wanted() const noexcept;
    // Hold no more what it was given.
    void let_go() noexcept;

    Program &program;
    Task *next = nullptr;
    Array *arena = nullptr;
    brimstone_arrays *results = nullptr;
    Time asked;
    std::vector<brimstone_arrays *> pieces;
    std::vector<uint64_t> addresses, slots;

  private:
    bool inputs_are_ready(Stream &stream, Time end) noexcept;
    void begin() noexcept;
    void settle(State state) noexcept;

    struct Copy {
        Array *to;
        const void *from;
    };

    std::vector<Array *> made;  // at the end those that replace what the task is given
    std::vector<char> taken;    // which of these are results
    std::vector<Copy> copies;   // of what is replaced, and somebody else may still read
    int64_t position = 0;     // of the next action
    bool begun_ = false, failed_ = false;
    Failure failure_ = {};
    friend class Program;
};

class Program {
  public:
    explicit Program(const brimstone_plan &plan);
    ~Program();
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    const brimstone_plan &plan() const noexcept { return plan_; }
    // What the arrays of one task take.
    int64_t bytes() const noexcept { return bytes_; }

    // A null pointer, if there is no memory, and then all is as it was. What is replaced is
    // `given_away`, or copied before.
    Task *call(std::span<brimstone_arrays *const> pieces, Stream *stream,
               bool given_away = false) noexcept;
    void end(Task &task) noexcept;
    bool under_way() const noexcept;

    // Whether who calls it wants its results at once, as he did not long ago: that he is late once
    // may be because he had to wait for a core. Of what is called for the first time, a guess.
    bool is_awaited(bool guess = false) const noexcept {
        const int late = late_.load(std::memory_order_relaxed);
        return late == UNKNOWN ? guess : late < OFTEN_LATE;
    }
    void await(bool at_once) noexcept {
        const int late = late_.load(std::memory_order_relaxed);
        const int later = late == UNKNOWN ? OFTEN_LATE : std::min(late + 1, OFTEN_LATE);
        late_.store(at_once ? 0 : later, std::memory_order_relaxed);
    }
    void go_on_without() noexcept { late_.store(OFTEN_LATE, std::memory_order_relaxed); }
    // Whether he need not be asked again this time: of some calls one is left to who waits, whose
    // time tells.
    bool is_surely_awaited() noexcept {
        return late_.load(std::memory_order_relaxed) == 0 &&
               sure_.fetch_add(1, std::memory_order_relaxed) % ASKED_AGAIN != 0;
    }

  private:
    Task *task() noexcept;
    using Pieces = std::span<brimstone_arrays *const>;

    bool prepare(Task &task, Pieces pieces, Stream *stream, bool given_away);
    bool replace(Task &task, Pieces pieces, Stream *stream, bool given_away) noexcept;
    void untake_all(Task &task, Pieces pieces) noexcept;
    bool take_results(Task &task, Pieces pieces, Stream *stream) noexcept;
    Array *result(Task &task, Pieces pieces, const brimstone_result &result,
                  Stream *stream) noexcept;
    void put_back(Task &task) noexcept;

    static constexpr int UNKNOWN = -1, OFTEN_LATE = 2;
    static constexpr uint32_t ASKED_AGAIN = 16;

    const brimstone_plan &plan_;
    const int64_t bytes_;
    Task *unused_ = nullptr;
    int64_t under_way_ = 0;
    std::atomic<int> late_ = UNKNOWN;  // so many times in turn
    std::atomic<uint32_t> sure_ = 0;   // calls of one who was not
};

// Nobody begins or ends a task between the two, as it must be when a process forks.
void lock_tasks() noexcept;
void unlock_tasks() noexcept;

}  // namespace brimstone
