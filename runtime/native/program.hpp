// Programs: plans that are called.
//
// Comes in: a plan; for each call the arrays that it is given. Goes out: a task, and arrays that
// are computed when it is done.
// Never: memory that is missing when a task is under way, but what kernels need while they run.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "array.hpp"
#include "brimstone.h"
#include "haste.hpp"
#include "home.hpp"
#include "task.hpp"

namespace brimstone {

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
