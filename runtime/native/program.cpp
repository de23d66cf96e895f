#include "program.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "memory.hpp"
#include "stream.hpp"

namespace brimstone {
namespace {

// Of the tasks of a home that nobody uses, and of how many are under way, whatever the program.
struct alignas(APART) Guard {
    std::mutex mutex;
};
auto &guards = *new std::array<Guard, HOMES>;

// How many programs there have been.
std::atomic<int64_t> programs_so_far = 0;

size_t size(int64_t count) noexcept { return static_cast<size_t>(count); }

// Of all pieces' arrays, the one of this number, and the piece that it is of.
std::pair<Array *, brimstone_arrays *> given(std::span<brimstone_arrays *const> pieces,
                                             size_t number) noexcept {
    auto piece = pieces.begin();
    for (; number >= size((*piece)->count); ++piece) number -= size((*piece)->count);
    return {(*piece)->items()[number], *piece};
}

// Blocks in which so many arrays may be told of at most, taken some at once.
class Records {
  public:
    explicit Records(size_t count) noexcept : missing_(count) {}
    ~Records() { blocks().give(std::span(taken_).first(count_)); }
    Records(const Records &) = delete;
    Records &operator=(const Records &) = delete;

    // The next one, which stays here until it is used; a null pointer if there is no memory.
    void *next() noexcept {
        if (count_ == 0) {
            const size_t count = std::min(missing_, taken_.size());
            std::ranges::fill(taken_, Block{nullptr, sizeof(Array)});
            if (!blocks().take(std::span(taken_).first(count))) return nullptr;
            count_ = count;
            missing_ -= count;
        }
        return taken_[count_ - 1].start;
    }
    void use() noexcept { --count_; }

  private:
    std::array<Block, 64> taken_;
    size_t count_ = 0, missing_;
};

// Whether a plan's results are what it makes, each whole, in this order.
bool makes_results(const brimstone_plan &plan) noexcept {
    if (plan.result_count != plan.made_count || plan.replaced_count > 0) return false;
    int64_t next = 1 + plan.input_count;
    return std::ranges::all_of(std::span(plan.results, size(plan.result_count)),
                               [&](const brimstone_result &each) {
                                   return each.whole && each.address == next++;
                               });
}

}  // namespace

void lock_tasks() noexcept {
    for (Guard &each : guards) each.mutex.lock();
}
void unlock_tasks() noexcept {
    for (Guard &each : guards) each.mutex.unlock();
}

Program::Program(const brimstone_plan &plan)
    : plan_(plan),
      number_(++programs_so_far),
      bytes_(std::accumulate(plan.made, plan.made + plan.made_count, int64_t{0})),
      makes_results_(makes_results(plan)) {}

Program::~Program() {
    for (Tasks &tasks : tasks_) {
        while (Task *task = tasks.unused) {
            tasks.unused = task->next;
            delete task;
        }
    }
}

bool Program::under_way() const noexcept {
    for (size_t home = 0; home < HOMES; ++home) {
        const std::lock_guard lock(guards[home].mutex);
        if (tasks_[home].under_way > 0) return true;
    }
    return false;
}

Task *Program::call(Pieces pieces, Stream *stream, bool given_away,
                    brimstone_arrays *spare) noexcept {
    Task *found = task();
    if (!found) {
        leave(spare);
        return nullptr;
    }
    found->results = spare;
    try {
        if (prepare(*found, pieces, stream, given_away)) return found;
    } catch (const std::bad_alloc &) {
    }
    leave(found->results);
    if (found->arena) stream->unreserve(std::exchange(found->arena, nullptr));
    put_back(*found);
    return nullptr;
}

Task *Program::task() noexcept {
    const size_t home = own_home();
    Tasks &tasks = tasks_[home];
    {
        const std::lock_guard lock(guards[home].mutex);
        ++tasks.under_way;
        if (Task *found = tasks.unused) {
            tasks.unused = found->next;
            return found;
        }
    }
    try {
        return new Task(*this, home);
    } catch (const std::bad_alloc &) {
        const std::lock_guard lock(guards[home].mutex);
        --tasks.under_way;
        return nullptr;
    }
}

bool Program::prepare(Task &task, Pieces pieces, Stream *stream, bool given_away) {
    auto address = task.addresses.begin() + 1;
    const auto end = address + plan_.input_count;
    for (brimstone_arrays *piece : pieces) {
        if (end - address < piece->count) return false;
        address = std::ranges::copy(piece->addresses(), address).out;
    }
    if (address != end) return false;
    task.pieces.reserve(pieces.size());
    if (plan_.arena > 0) {
        task.arena = stream->reserve(plan_.arena);
        if (!task.arena) return false;
        task.addresses[0] = reinterpret_cast<uint64_t>(task.arena->address);
    }
    const bool is_there = makes_results_ ? make_results(task, stream)
                                         : make_and_take(task, pieces, stream, given_away);
    if (!is_there) return false;
    for (brimstone_arrays *piece : pieces) task.pieces.push_back(hold(piece));
    return true;
}

bool Program::can_use_again(brimstone_arrays *arrays, const Stream *stream) const noexcept {
    return arrays->program == number_ && arrays->stream == stream && are_alone(arrays);
}

// The results where they are what is made: none of them need be looked at on its own.
bool Program::make_results(Task &task, Stream *stream) noexcept {
    if (task.results)
        renew(task.results);
    else if (!(task.results = new_results(stream)))
        return false;
    std::ranges::copy(task.results->addresses(), task.made_addresses().begin());
    return true;
}

// A null pointer, if there is no memory.
brimstone_arrays *Program::new_results(Stream *stream) const noexcept {
    const size_t count = size(plan_.made_count);
    brimstone_arrays *made = new_arrays(plan_.made_count, stream, true);
    if (!made) return nullptr;
    const std::span items = made->items();
    if (!make({plan_.made, count}, stream, items, SEEN)) {
        std::ranges::fill(items, nullptr);
        drop(made);
        return nullptr;
    }
    for (size_t i = 0; i < count; ++i) made->put(i, items[i]);
    made->program = number_;
    return made;
}

// What is made, and what replaces what is given; and the results: these, parts of them, or what is
// given.
bool Program::make_and_take(Task &task, Pieces pieces, Stream *stream, bool given_away) {
    const size_t count = size(plan_.made_count);
    task.made_.assign(count + size(plan_.replaced_count), nullptr);
    task.are_results_.assign(task.made_.size(), false);
    task.copies_.reserve(size(plan_.replaced_count));
    const std::span made = std::span(task.made_).first(count);
    if (!make({plan_.made, count}, stream, made, SEEN)) return false;
    std::ranges::transform(made, task.made_addresses().begin(), [](const Array *array) {
        return reinterpret_cast<uint64_t>(array->address);
    });
    if (!replace(task, pieces, stream, given_away)) {
        untake_all(task, pieces);
        drop(task.made_, SEEN);
        return false;
    }
    return take_results(task, pieces, stream);
}

// Arrays in the memory of those that the program writes to; where somebody else may still read that
// memory, in other memory.
bool Program::replace(Task &task, Pieces pieces, Stream *stream, bool given_away) noexcept {
    Records records(size(plan_.replaced_count));
    for (int64_t i = 0; i < plan_.replaced_count; ++i) {
        const size_t number = size(plan_.replaced[i]);
        Array *&made = task.made_[size(plan_.made_count + i)];
        const auto [old, piece] = given(pieces, number);
        const auto bytes = static_cast<int64_t>(old->bytes);
        if (given_away && can_be_taken(*old, stream)) {
            void *record = records.next();
            if (!record) return false;
            made = take_over(*old, record, stream, SEEN);
        }
        if (made) {
            records.use();
            piece->are_taken.store(true, std::memory_order_release);
        } else {
            if (!make({&bytes, 1}, stream, {&made, 1}, SEEN)) return false;
            task.copies_.push_back({made, old->address});
        }
        task.addresses[1 + number] = reinterpret_cast<uint64_t>(made->address);
    }
    return true;
}

// What the program was to replace is what it was: who gave it away keeps it.
void Program::untake_all(Task &task, Pieces pieces) noexcept {
    for (int64_t i = 0; i < plan_.replaced_count; ++i) {
        const Array *made = task.made_[size(plan_.made_count + i)];
        if (!made || !made->base) continue;
        const auto [old, piece] = given(pieces, size(plan_.replaced[i]));
        untake(*old);
        piece->are_taken.store(false, std::memory_order_release);
    }
}

// What the program makes is held by its results, and by nobody else.
bool Program::take_results(Task &task, Pieces pieces, Stream *stream) noexcept {
    task.results = new_arrays(plan_.result_count, stream, true);
    bool enough = task.results != nullptr;
    for (int64_t i = 0; enough && i < plan_.result_count; ++i) {
        Array *array = result(task, pieces, plan_.results[i], stream);
        enough = array != nullptr;
        if (enough) task.results->put(size(i), array);
    }
    if (!enough) untake_all(task, pieces);
    for (size_t i = 0; i < task.are_results_.size(); ++i)
        if (!task.are_results_[i]) drop({&task.made_[i], 1}, SEEN);
    if (!enough) drop(std::exchange(task.results, nullptr));
    return enough;
}

Array *Program::result(Task &task, Pieces pieces, const brimstone_result &result,
                       Stream *stream) noexcept {
    const int64_t number = result.address - 1 - plan_.input_count;
    Array *array =
        number < 0 ? given(pieces, size(result.address - 1)).first : task.made_[size(number)];
    if (!result.whole) return part_of(*array, result.offset, size(result.bytes), stream, SEEN);
    if (number < 0) task.results->stream = nullptr;
    if (number < 0 || task.are_results_[size(number)]) return hold(array, SEEN);
    task.are_results_[size(number)] = true;
    return array;
}

void Program::end(Task &task) noexcept {
    task.drop_inputs();
    drop(task.results);
    put_back(task);
}

void Program::put_back(Task &task) noexcept {
    task.pieces.clear();
    task.copies_.clear();
    task.results = nullptr;
    task.position_ = 0;
    task.begun_ = task.failed_ = false;
    task.failure_ = {};
    const std::lock_guard lock(guards[task.home].mutex);
    Tasks &tasks = tasks_[task.home];
    task.next = std::exchange(tasks.unused, &task);
    --tasks.under_way;
}

}  // namespace brimstone
