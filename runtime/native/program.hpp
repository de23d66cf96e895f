// Programs, and the tasks that are calls of them.
//
// Comes in: a plan; for each call the arrays that it is given. Goes out: arrays that are computed
// when the task is done.
// Never: memory that is missing when a task is under way, but what kernels need while they run.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "array.hpp"
#include "brimstone.h"
#include "haste.hpp"
#include "home.hpp"
#include "pool.hpp"
#include "script.hpp"

namespace brimstone {

class Program;

// A call of a program. Its slots are those of the call before, so that only what differs is set.
struct Task {
    Task(Program &called, size_t home);

    // Whether all that it is given is computed.
    bool can_begin() const noexcept;
    // Whether it is done, one way or the other; if not, it is to be run again.
    bool run(Pool &pool, Stream &stream, Time end) noexcept;
    // Whether somebody but this task holds a result.
    bool is_wanted() const noexcept;
    // Hold no more what it was given.
    void drop_inputs() noexcept;

    Program &program;
    const size_t home;  // of the threads that use it
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
    // Where those of what is made stand, behind those of what it is given.
    std::span<uint64_t> made_addresses() noexcept;

    struct Copy {
        Array *to;
        const void *from;
    };

    std::vector<Array *> made_;      // at the end those that replace what the task is given
    std::vector<char> are_results_;  // which of these are
    std::vector<Copy> copies_;       // of what is replaced, and somebody else may still read
    int64_t position_ = 0;           // of the next action
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
    // What the results of one task take; tasks that wait share an arena.
    int64_t bytes() const noexcept { return bytes_; }

    // A null pointer, if there is no memory, or arrays are missing: then the spare ones are
    // dropped, and all else is as it was. What is replaced is `given_away`, or copied before. The
    // results are made of the spare ones, if there are any.
    Task *call(std::span<brimstone_arrays *const> pieces, Stream *stream, bool given_away = false,
               brimstone_arrays *spare = nullptr) noexcept;
    // Whether its next results on that stream can be made of some that are to be dropped.
    bool can_use_again(brimstone_arrays *arrays, const Stream *stream) const noexcept;
    void end(Task &task) noexcept;
    bool under_way() const noexcept;

    // Of those who call it; a stream may remember it for longer than there is a program.
    const std::shared_ptr<Haste> &haste() const noexcept { return haste_; }

  private:
    Task *task() noexcept;
    using Pieces = std::span<brimstone_arrays *const>;

    bool prepare(Task &task, Pieces pieces, Stream *stream, bool given_away);
    bool replace(Task &task, Pieces pieces, Stream *stream, bool given_away) noexcept;
    void untake_all(Task &task, Pieces pieces) noexcept;
    bool make_results(Task &task, Stream *stream) noexcept;
    brimstone_arrays *new_results(Stream *stream) const noexcept;
    bool make_and_take(Task &task, Pieces pieces, Stream *stream, bool given_away);
    bool take_results(Task &task, Pieces pieces, Stream *stream) noexcept;
    Array *result(Task &task, Pieces pieces, const brimstone_result &result,
                  Stream *stream) noexcept;
    void put_back(Task &task) noexcept;

    const brimstone_plan &plan_;
    const int64_t number_;  // which no other program has
    const int64_t bytes_;
    const bool makes_results_;  // what it makes are its results, and all of them, in this order
    // Of a home: tasks that nobody uses, and how many are under way.
    struct alignas(APART) Tasks {
        Task *unused = nullptr;
        int64_t under_way = 0;
    };
    std::array<Tasks, HOMES> tasks_;
    const std::shared_ptr<Haste> haste_ = std::make_shared<Haste>();
};

// Nobody begins or ends a task between the two, as it must be when a process forks.
void lock_tasks() noexcept;
void unlock_tasks() noexcept;

}  // namespace brimstone
