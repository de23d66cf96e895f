#include "stream.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <new>
#include <thread>

#include "gone.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "quiet.hpp"
#include "record.hpp"

namespace brimstone {
namespace {

// As `brimstone_plan` counts work: what is less is done before a runner would wake.
constexpr int64_t LITTLE = int64_t{16} << 20;
// Who waits does not run himself what is more, for he would not come back for a while.
constexpr int64_t LONG = int64_t{256} << 20;
// In place of an action, in events.
constexpr int64_t CALL = -1;
// So much memory is asked for as it is, and not for twice as much.
constexpr uint64_t WIDE = uint64_t{4} << 20;
constexpr int64_t TASKS_AT_MOST = 32;
constexpr int64_t BYTES_AT_MOST = int64_t{256} << 20;
// What is put off has no more bytes.
constexpr int64_t PUT_OFF_AT_MOST = int64_t{4} << 20;
// What has stood first for so long, or for twice as long, is done though nobody waits for it.
constexpr auto FORGOTTEN = std::chrono::milliseconds(50);
// Who has waited so long behind a task asks whether anybody wants that one.
constexpr auto PATIENCE = std::chrono::seconds(1);

// How much there is to do, as far as it matters: sums of it are numbers.
int64_t work_of(const Program &program) noexcept { return std::min(program.plan().work, LONG + 1); }

}  // namespace

bool Stream::admits(const Program &program) noexcept {
    const auto has_room = [&] {
        const bool fits = bytes_ + program.bytes() <= BYTES_AT_MOST;
        return count_ == 0 || (count_ < TASKS_AT_MOST && fits);
    };
    return wait_until(has_room, Who::ANYBODY);
}

bool Stream::wait(const Array &array) noexcept {
    return wait_until([&] { return array.state.load() != State::PENDING; }, Who::ASKER);
}

bool Stream::wait_for_another(const Array &array) noexcept {
    return wait_until([&] { return array.state.load() != State::PENDING; }, Who::ANYBODY);
}

bool Stream::wait_for_all() noexcept {
    return wait_until([&] { return count_ == 0; }, Who::ASKER);
}

template <typename Condition>
bool Stream::wait_until(Condition holds, Who waits) noexcept {
    Lock lock(mutex_);
    if (holds()) return true;
    const Time now = Clock::now(), end = now + LOOKS_EVERY;
    if (waits == Who::ASKER && first_) asker_.waits(*last_->program.haste(), now);
    do {
        const bool is_long = first_ && first_->program.plan().work > LONG;
        if (running_ || !first_ || stopping() || (is_long && call_runner())) {
            ++waiting_;
            changed_.wait_until(lock, end);
            --waiting_;
        } else {
            run_tasks(lock, end, holds);
        }
    } while (!holds() && Clock::now() < end);
    if (holds()) return true;
    ask_for_first(now);
    return false;
}

// Somebody has waited behind the first task since then, which may have no end. Nobody may want it
// any more: an interrupt can come between a call and the moment at which somebody waits for it.
void Stream::ask_for_first(Time since) noexcept {
    if (behind_since_ == Time()) behind_since_ = since;
    if (Clock::now() - behind_since_ < PATIENCE) return;
    behind_since_ = {};
    is_in_question_ = true;
}

// The call that takes the last room is not: it does them all.
bool Stream::puts_off(const Program &program) noexcept {
    const Lock lock(mutex_);
    if (running_ || !asker_.has_company(Clock::now())) return false;
    if (program.haste()->surely_awaits()) return false;
    const bool fits = bytes_ + program.bytes() <= PUT_OFF_AT_MOST && count_ + 1 < TASKS_AT_MOST;
    return fits && work_ + work_of(program) < LITTLE && has_runner();
}

void Stream::push(Task &task, bool is_put_off) noexcept {
    Lock lock(mutex_);
    if (!arena_ && task.arena) arena_ = hold(task.arena);
    const Time now = Clock::now();
    if (recording()) task.asked = now;
    task.next = nullptr;
    task.results->call = asker_.asks(now);
    (first_ ? last_->next : first_) = &task;
    last_ = &task;
    ++count_;
    bytes_ += task.program.bytes();
    work_ += work_of(task.program);
    if (running_) return;
    const bool is_first = first_ == &task, in_company = asker_.has_company(now);
    if (!is_first) asker_.went_on(*first_->program.haste());
    if (is_put_off) return watch();
    const bool at_once = is_first ? is_for_now(task, in_company) : in_company && is_overdue(task);
    if (is_first && !at_once && asker_.awaits(*task.program.haste())) return;
    if (at_once || !call_runner())
        run_tasks(lock, at_once ? now + LOOKS_EVERY : Time::max(), [] { return false; });
    if (asker_.has_answer()) asker_.goes_on_at(Clock::now());
}

void Stream::note_reading(uint32_t call) noexcept {
    if (asker_.is_watched(call)) asker_.reads(Clock::now());
}

// Whether who asks for the only task does it himself: it is little, or he would wait for it next.
// In company it is noted if he was sure to, and then whether he does: if not, the next is put off.
bool Stream::is_for_now(const Task &task, bool in_company) noexcept {
    const int64_t work = task.program.plan().work;
    if (work > LONG || !task.can_begin()) return false;
    const bool is_quick = work < LITTLE || pool_.threads() == 1;
    if (is_quick && !in_company) return true;
    return asker_.surely_awaits(task.program.haste()) || is_quick;
}

// Whether it, and what was put off before it, is done by who asks for it.
bool Stream::is_overdue(const Task &task) const noexcept {
    const int64_t work = work_of(task.program);
    return work < LITTLE && work_ - work < LITTLE && first_->can_begin();
}

// Whether all there is may be put off for a while.
bool Stream::may_stay() const noexcept {
    return work_ < LITTLE && bytes_ <= PUT_OFF_AT_MOST && asker_.has_company(Clock::now());
}

// Tasks are done one after the other, so that one piece of memory is enough for those that wait. At
// other sizes a step needs a little more or less, and is to find the same piece.
Array *Stream::reserve(int64_t wanted) noexcept {
    const Lock lock(mutex_);
    const auto bytes = static_cast<uint64_t>(wanted);
    if (!arena_ || arena_->bytes < bytes) {
        const auto room = static_cast<int64_t>(bytes > WIDE ? bytes : std::bit_ceil(bytes));
        Array *larger = nullptr;
        if (!make({&room, 1}, nullptr, {&larger, 1})) return nullptr;
        drop_arena();
        arena_ = larger;
    }
    return hold(arena_);
}

void Stream::unreserve(Array *reserved) noexcept {
    const Lock lock(mutex_);
    drop({&reserved, 1});
    if (!first_) drop_arena();
}

void Stream::drop_arena() noexcept {
    if (arena_) drop({&arena_, 1});
    arena_ = nullptr;
}

// Until it is enough, or time to come back. What is left then is for the runner, if there is one.
template <typename Condition>
void Stream::run_tasks(Lock &lock, Time end, Condition enough) noexcept {
    running_ = true;
    bool is_done = true;
    do {
        Task &task = *first_;
        lock.unlock();
        is_done = task.run(pool_, *this, end);
        if (is_done) note(task);
        lock.lock();
        if (is_done) finish(lock, task);
    } while (first_ && !enough() && Clock::now() < end && !stopping());
    running_ = false;
    if (first_ && is_done && may_stay())
        watch();
    else if (first_)
        call_runner();
    if (waiting_ > 0) changed_.notify_all();
}

// Results are dropped while the lock is not held, and while `running_` says that it is not over.
// The arena is given back before anybody can ask for another one.
void Stream::finish(Lock &lock, Task &task) noexcept {
    first_ = task.next;
    behind_since_ = {};
    is_in_question_ = false;
    const int64_t bytes = task.program.bytes(), work = work_of(task.program);
    if (!first_) drop_arena();
    if (waiting_ > 0) changed_.notify_all();
    lock.unlock();
    task.program.end(task);
    lock.lock();
    --count_;
    bytes_ -= bytes;
    work_ -= work;
    ++done_;
    if (waiting_ > 0) changed_.notify_all();
}

// Before the stream has less to do: who waits for all finds it written down.
void Stream::note(Task &task) noexcept {
    if (recording() && task.asked != Time())
        Notes().note_since(task.asked, task.program.plan().script.number, CALL);
    task.asked = {};
}

// Whether there is one, who is begun at first.
bool Stream::has_runner() noexcept {
    if (is_stopped()) return false;
    if (is_there_) return true;
    const Quiet quiet;
    try {
        std::thread([this] { live(); }).detach();
    } catch (const std::exception &) {
        return false;
    }
    return is_there_ = true;
}

// Whether he comes.
bool Stream::call_runner() noexcept {
    if (!has_runner()) return false;
    wanted_ = true;
    called_.notify_one();
    return true;
}

// Have the runner see to it that what is put off is not forgotten.
void Stream::watch() noexcept {
    if (watches_ || !has_runner()) return;
    watches_ = true;
    called_.notify_one();
}

// What the runner does until the process ends.
void Stream::live() noexcept {
    settle_down(number_);
    Lock lock(mutex_);
    // How many tasks were done when he last looked: if no more are, the same one stands first.
    for (int64_t seen = -1;; seen = first_ ? done_ : -1) {
        called_.wait(lock, [this] { return wanted_ || watches_; });
        const bool is_called = called_.wait_for(lock, FORGOTTEN, [this] { return wanted_; });
        wanted_ = false;
        if (first_ && (is_called || done_ == seen) && !running_ && !stopping())
            run_tasks(lock, Time::max(), [] { return false; });
        watches_ = watches_ && first_;
    }
}

void Stream::close() noexcept {
    drop_gone();
    const Lock lock(mutex_);
    is_closed_ = true;
    asker_.goes();
    forsake();
    if (first_ && !running_) call_runner();
}

bool Stream::wants(const Task &task) noexcept {
    const bool is_asked = is_in_question_.load(std::memory_order_relaxed);
    if (!is_asked && !is_closed_.load(std::memory_order_relaxed)) return true;
    drop_gone();
    const Lock lock(mutex_);
    is_in_question_ = false;
    forsake();
    return task.is_wanted();
}

// Tasks that nobody asks for any more, but the first, which may be under way: the last ones first,
// for they hold what those before them make.
void Stream::forsake() noexcept {
    for (;;) {
        Task *before = nullptr;
        for (Task *task = first_; task && task->next; task = task->next)
            if (!task->next->is_wanted()) before = task;
        if (!before) return;
        Task &unwanted = *before->next;
        before->next = unwanted.next;
        if (last_ == &unwanted) last_ = before;
        --count_;
        bytes_ -= unwanted.program.bytes();
        work_ -= work_of(unwanted.program);
        unwanted.program.end(unwanted);
    }
}

bool Stream::reopen() noexcept {
    const Lock lock(mutex_);
    if (count_ == 0) is_closed_ = false;
    return count_ == 0;
}

void Stream::settle() noexcept {
    while (!wait_until([&] { return count_ == 0; }, Who::ANYBODY) && !stopping()) {
    }
}

bool Stream::lock() noexcept {
    mutex_.lock();
    return !running_ && (count_ == 0 || stopping());
}

void Stream::unlock(bool in_child) noexcept {
    if (in_child) {
        is_there_ = wanted_ = watches_ = false;
        waiting_ = 0;
        new (&changed_) std::condition_variable;
        new (&called_) std::condition_variable;
    }
    mutex_.unlock();
}

void Stream::end() noexcept {
    Lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return !running_; });
    --waiting_;
}

}  // namespace brimstone
