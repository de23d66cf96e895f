// Loops and branches: rounds in order, slots that follow them, and a way back into the middle.
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "launch.hpp"
#include "pool.hpp"
#include "script.hpp"

namespace brimstone {
namespace {

// A script with the slots that it works on, and no places.
struct Loops {
    std::vector<brimstone_action> actions;
    std::vector<brimstone_loop> loops = {};
    std::vector<brimstone_move> moves = {};
    std::vector<brimstone_launch> launches = {};
    std::vector<uint64_t> slots = {};

    brimstone_script script() const {
        const auto count = static_cast<int64_t>(actions.size());
        return {nullptr, actions.data(), launches.data(), loops.data(), moves.data(), 0, count, 9};
    }
};

int64_t run(const Loops &loops, uint64_t *slots, int64_t begin, Time end) {
    static Pool pool(1);
    Failure failure;
    const auto always = [](const void *) { return true; };
    return run(pool, loops.script(), nullptr, slots, begin, end, always, nullptr, failure);
}

bool plays(const Loops &loops) {
    std::vector<uint64_t> slots = loops.slots;
    const auto count = static_cast<int64_t>(loops.actions.size());
    return run(loops, slots.data(), 0, Time::max()) == count;
}

uint64_t address(const void *place) { return reinterpret_cast<uint64_t>(place); }

// Slots: a vector of numbers, and the number to be put behind its last one.
void note(const uint64_t *slots, const int64_t *, const int64_t *) {
    reinterpret_cast<std::vector<int64_t> *>(slots[0])->push_back(static_cast<int64_t>(slots[1]));
}

brimstone_launch noting(int64_t slot) {
    return {note, nullptr, 0, 0, slot, 2, {1, 1, 1}, 0, 1, 0};
}

constexpr brimstone_action NOTE = {BRIMSTONE_ALONE, 0, 1, 0};

// A loop in another one: of the slots, 0 and 1 keep indices, 2 and 3 are the kernel's, 4 holds 0,
// and 5 is 100 for each round of the outer one.
Loops nested(std::vector<int64_t> &found, brimstone_loop outer, brimstone_loop inner) {
    outer.slot = 0;
    inner.slot = 1;
    outer.first_move = 0;
    inner.first_move = outer.move_count = inner.move_count = 1;
    return {{{BRIMSTONE_LOOP, 0, 5, 0},
             {BRIMSTONE_LOOP, 1, 3, 0},
             NOTE,
             {BRIMSTONE_NEXT, 1, -1, 1},
             {BRIMSTONE_NEXT, 0, -3, 1}},
            {outer, inner},
            {{5, 4, 100}, {3, 5, 1}},
            {noting(2)},
            {0, 0, address(&found), 0, 0, 0}};
}

constexpr brimstone_loop up(int64_t trip) { return {0, 0, trip, 1, 0, 0}; }
constexpr brimstone_loop down(int64_t trip) { return {0, trip - 1, -1, -1, 0, 0}; }

void test_nested_loops() {
    std::vector<int64_t> found;
    check(plays(nested(found, up(2), up(3))));
    check(found == std::vector<int64_t>{0, 1, 2, 100, 101, 102});
    found.clear();
    check(plays(nested(found, down(3), up(2))));
    check(found == std::vector<int64_t>{200, 201, 100, 101, 0, 1});
    found.clear();
    for (const int64_t trip : {0, 4}) check(plays(nested(found, up(trip), down(trip ? 0 : 4))));
    check(found.empty());
}

// However often somebody looks in between, every round is run once.
void test_the_middle_of_a_loop() {
    std::vector<int64_t> found, expected;
    Loops loops = nested(found, up(20), down(30));
    for (brimstone_action &action : loops.actions) action.size = int64_t{4} << 20;
    int64_t calls = 0;
    for (int64_t at = 0; at < 5; ++calls) at = run(loops, loops.slots.data(), at, Time());
    check(calls > 1000);
    for (int64_t i = 0; i < 20; ++i)
        for (int64_t j = 29; j >= 0; --j) expected.push_back(100 * i + j);
    check(found == expected);
}

// Slots: a number that becomes smaller, and a byte that says whether it is larger than 0.
void count_down(const uint64_t *slots, const int64_t *, const int64_t *) {
    auto &number = *reinterpret_cast<int64_t *>(slots[0]);
    *reinterpret_cast<bool *>(slots[1]) = --number > 0;
}

void test_as_long_as_something_holds() {
    for (const bool holds : {false, true}) {
        int64_t number = 1000;
        bool more = holds;
        const brimstone_launch counting = {count_down, nullptr, 0, 0, 0, 2, {1, 1, 1}, 0, 1, 0};
        check(plays({{{BRIMSTONE_UNLESS, 1, 3, 0}, NOTE, {BRIMSTONE_JUMP, 0, -2, 1}},
                     {},
                     {},
                     {counting},
                     {address(&number), address(&more)}}));
        check(number == (holds ? 0 : 1000) && !more);
    }
}

void test_branches() {
    for (const bool holds : {false, true}) {
        std::vector<int64_t> found;
        check(plays({{{BRIMSTONE_UNLESS, 4, 3, 0},
                      NOTE,
                      {BRIMSTONE_JUMP, 0, 2, 0},
                      {BRIMSTONE_ALONE, 1, 1, 0},
                      NOTE},
                     {},
                     {},
                     {noting(0), noting(2)},
                     {address(&found), 1, address(&found), 2, address(&holds)}}));
        check(found == (holds ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{2, 1}));
    }
}

// The index goes from a slot to memory.
void test_store() {
    std::array<int32_t, 3> numbers = {};
    const brimstone_loop loop = {0, 0, 3, 1, 0, 2};
    check(plays({{{BRIMSTONE_LOOP, 0, 3, 0},
                  {BRIMSTONE_STORE, 1, 4, 0},
                  {BRIMSTONE_NEXT, 0, -1, 1}},
                 {loop},
                 {{1, 3, 4}, {2, 4, 7}},
                 {},
                 {0, 0, 0, address(numbers.data()), 1}}));
    check(numbers == std::array<int32_t, 3>{1, 8, 15});
}

// A loop that nobody leaves comes back nevertheless, and is left when nobody wants it.
void test_without_end() {
    const bool holds = true;
    const Loops loops = {{{BRIMSTONE_UNLESS, 0, 2, 0}, {BRIMSTONE_JUMP, 0, -1, 4096}},
                         {},
                         {},
                         {},
                         {address(&holds)}};
    std::vector<uint64_t> slots = loops.slots;
    const Time start = Clock::now();
    check(run(loops, slots.data(), 0, start + LOOKS_EVERY) < 2);
    check(Clock::now() - start >= LOOKS_EVERY);
    Pool pool(1);
    Failure failure;
    const auto never = [](const void *) { return false; };
    check(run(pool, loops.script(), nullptr, slots.data(), 0, Time::max(), never, nullptr,
              failure) == 2);
    std::thread stopper([] {
        std::this_thread::sleep_for(LOOKS_EVERY);
        stop();
    });
    check(run(loops, slots.data(), 0, Time::max()) < 2);
    stopper.join();
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_nested_loops();
    test_the_middle_of_a_loop();
    test_as_long_as_something_holds();
    test_branches();
    test_store();
    test_without_end();
    return exit_status();
}
