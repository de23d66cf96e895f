// Streams: what one thread asks for, done in order, while that thread goes on.
//
// Comes in: tasks. Goes out: tasks that are done, one after the other.
// Never: two tasks of a stream at once; a task that is forgotten, if anybody wants what it makes.
//
// Little work is done at once by who asks for it. For more, a stream has a runner, a thread that
// sleeps while there is nothing to do. Who waits for an array runs what is before it himself,
// unless the runner is at it, or it would take so long that nobody could stop him. A runner that is
// woken for nothing takes a core from the pool: for a program whose results are wanted at once, it
// is not called before something else is asked for, and who is sure to want them does it all
// himself when he asks (`asker.hpp`). Where several threads of Python ask, to do little each time
// would be to hand Python's lock on each time: it is left until somebody waits, or until it is no
// longer little. The runner looks now and then whether it has been forgotten.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "array.hpp"
#include "asker.hpp"
#include "home.hpp"
#include "pool.hpp"
#include "program.hpp"
#include "script.hpp"

namespace brimstone {

class alignas(APART) Stream {
  public:
    Stream(Pool &pool, size_t number) noexcept : pool_(pool), number_(number) {}
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    // These wait for a while at most, and say whether it is so: for whoever asks, and the third for
    // another stream, which says nothing about him.
    bool admits(const Program &program) noexcept;
    bool wait(const Array &array) noexcept;
    bool wait_for_another(const Array &array) noexcept;
    bool wait_for_all() noexcept;
    // Whether a task of a program is put off: to push it takes no time then. By who asks.
    bool puts_off(const Program &program) noexcept;
    void push(Task &task, bool is_put_off) noexcept;
    // Somebody reads what a call has made, and need not wait for it.
    void note_reading(uint32_t call) noexcept;
    // Memory of so many bytes that tasks use one after the other, held for one of them; a null
    // pointer if there is none. It is let go of if the task is not pushed after all.
    Array *reserve(int64_t bytes) noexcept;
    void unreserve(Array *reserved) noexcept;

    // Whoever asked for what is left will not ask for more: what nobody holds is not done.
    void close() noexcept;
    bool reopen() noexcept;  // unless something is left
    // Whether a task is to go on, where that is in question: when the stream is closed, or somebody
    // has waited behind the task for a while. What was asked for after it and is for nobody goes
    // first, for it holds what this one makes.
    bool wants(const Task &task) noexcept;

    const Pool &pool() const noexcept { return pool_; }
    size_t number() const noexcept { return number_; }

    // Before a process forks: return when nothing is left. Then nobody can ask for more between the
    // next two, of which the first says whether still nothing is left; the child has no runner.
    void settle() noexcept;
    bool lock() noexcept;
    void unlock(bool in_child) noexcept;
    // Return when nobody runs tasks any more, as nobody begins to once all are stopped.
    void end() noexcept;

    Stream *next = nullptr;  // of all, and of those that are closed
    Stream *next_closed = nullptr;

  private:
    using Lock = std::unique_lock<std::mutex>;

    // The one who asks for what is computed, and waits for it; or anybody, for whatever else.
    enum class Who { ASKER, ANYBODY };

    template <typename Condition>
    bool wait_until(Condition holds, Who waits) noexcept;
    template <typename Condition>
    void run_tasks(Lock &lock, Time end, Condition enough) noexcept;
    void ask_for_first(Time since) noexcept;
    bool is_for_now(const Task &task, bool in_company) noexcept;
    bool is_overdue(const Task &task) const noexcept;
    bool may_stay() const noexcept;
    void forsake() noexcept;
    void drop_arena() noexcept;
    void finish(Lock &lock, Task &task) noexcept;
    static void note(Task &task) noexcept;
    bool has_runner() noexcept;
    bool call_runner() noexcept;
    void watch() noexcept;
    void live() noexcept;

    Pool &pool_;
    const size_t number_;
    std::mutex mutex_;
    std::condition_variable changed_, called_;
    Task *first_ = nullptr, *last_ = nullptr;
    Array *arena_ = nullptr;  // of the tasks that wait, one after the other
    int64_t count_ = 0, bytes_ = 0, work_ = 0;  // of the tasks that wait
    int64_t done_ = 0;                          // so many tasks
    Asker asker_;
    int waiting_ = 0;
    Time behind_since_;  // somebody waits behind the first task
    std::atomic<bool> is_closed_ = false;
    std::atomic<bool> is_in_question_ = false;  // whether anybody wants the task under way
    bool running_ = false;  // whether somebody runs tasks
    // The runner is there; is called; looks whether what is put off has been forgotten.
    bool is_there_ = false, wanted_ = false, watches_ = false;
};

}  // namespace brimstone
