// Scripts: every program of every launch runs once, in the order of the actions.
#include "script.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "check.hpp"
#include "jobs.hpp"

namespace brimstone {
namespace {

// A kernel whose programs count themselves: slot 0 has the address of the counts, a program each.
void count(const uint64_t *slots, const int64_t *grid, const int64_t *range) {
    auto *counts = reinterpret_cast<int *>(slots[0]);
    for (int64_t i = range[0]; i < range[1]; ++i)
        for (int64_t j = range[2]; j < range[3]; ++j)
            for (int64_t k = range[4]; k < range[5]; ++k)
                ++counts[(i * grid[1] + j) * grid[2] + k];
}

// The same with memory of its own, which nobody else may write to meanwhile.
void count_in_room(const uint64_t *slots, const int64_t *grid, const int64_t *range) {
    auto *first = reinterpret_cast<unsigned char *>(slots[1]);
    auto *second = reinterpret_cast<unsigned char *>(slots[2]);
    const auto mark = static_cast<unsigned char>(range[1]);
    std::memset(first, mark, 64);
    std::memset(second, mark + 1, 64);
    count(slots, grid, range);
    const auto next = static_cast<unsigned char>(mark + 1);
    for (int i = 0; i < 64; ++i) check(first[i] == mark && second[i] == next);
}

constexpr std::array<int64_t, 2> OFFSETS = {0, 64};

brimstone_launch launch(std::array<int64_t, 3> grid, int64_t axis, int64_t chunks, int64_t first) {
    return {count, nullptr, 0, 0, 0, 1, {grid[0], grid[1], grid[2]}, axis, chunks, first};
}

brimstone_launch with_room(brimstone_launch launch, int64_t room) {
    launch.code = count_in_room;
    launch.scratch_offsets = OFFSETS.data();
    launch.scratch_count = 2;
    launch.room = room;
    return launch;
}

int64_t run(Pool &pool, const brimstone_script &script, const uint64_t *addresses, uint64_t *slots,
            int64_t begin, Failure &failure) {
    const auto always = [](const void *) { return true; };
    return run(pool, script, addresses, slots, begin, Clock::now() + LOOKS_EVERY, always, nullptr,
               failure);
}

int64_t play(Pool &pool, const std::vector<brimstone_launch> &launches,
             const std::vector<brimstone_action> &actions, uint64_t *slots,
             Failure &failure) {
    const brimstone_script script = {nullptr, actions.data(), launches.data(), nullptr,
                                     nullptr, 0, static_cast<int64_t>(actions.size()), 3};
    return run(pool, script, nullptr, slots, 0, failure);
}

bool plays(Pool &pool, const std::vector<brimstone_launch> &launches,
           const std::vector<brimstone_action> &actions, uint64_t *slots) {
    Failure failure;
    return play(pool, launches, actions, slots, failure) == static_cast<int64_t>(actions.size());
}

bool counts_once(Pool &pool, brimstone_launch launch) {
    const auto programs = static_cast<size_t>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
    std::vector<int> counts(programs);
    uint64_t slots[] = {reinterpret_cast<uint64_t>(counts.data())};
    check(plays(pool, {launch}, {{BRIMSTONE_SHARE, 0, 1, 0}}, slots));
    return counts == std::vector<int>(programs, 1);
}

void test_every_program_runs_once() {
    Pool pool(3);
    for (const int64_t chunks : {1, 2, 3, 5}) {
        check(counts_once(pool, launch({5, 1, 1}, 0, chunks, 0)));
        check(counts_once(pool, launch({2, 7, 3}, 1, chunks, 0)));
        check(counts_once(pool, launch({1, 2, 1009}, 2, chunks, 0)));
        check(counts_once(pool, with_room(launch({64, 1, 1}, 0, chunks, 0), 128)));
    }
}

void test_launches_at_once() {
    Pool pool(3);
    const std::vector<brimstone_launch> launches = {
        launch({4, 1, 1}, 0, 2, 0), launch({1, 1, 1}, 0, 1, 2),
        with_room(launch({9, 1, 1}, 0, 3, 3), 128)};
    std::vector<brimstone_launch> apart = launches;
    std::vector<int> counts(14);
    uint64_t slots[3];
    const int begins[] = {0, 4, 5};
    for (size_t i = 0; i < 3; ++i) {
        apart[i].slot = static_cast<int64_t>(i);
        slots[i] = reinterpret_cast<uint64_t>(&counts[static_cast<size_t>(begins[i])]);
    }
    for (const int64_t kind : {BRIMSTONE_SHARE, BRIMSTONE_ALONE})
        check(plays(pool, apart, {{kind, 0, 3, 0}}, slots));
    check(counts == std::vector<int>(14, 2));
}

// What comes after a kernel that cannot have its memory is not done.
void test_no_memory() {
    Pool pool(2);
    int counts[2] = {};
    uint64_t slots[] = {reinterpret_cast<uint64_t>(counts)};
    const auto enough = launch({2, 1, 1}, 0, 2, 0);
    const auto too_much = with_room(enough, int64_t{1} << 60);
    const std::vector<brimstone_action> actions = {
        {BRIMSTONE_SHARE, 0, 1, 0}, {BRIMSTONE_SHARE, 1, 1, 0}, {BRIMSTONE_SHARE, 0, 1, 0}};
    Failure failure = {};
    check(play(pool, {enough, too_much}, actions, slots, failure) == -1);
    check(failure.script == 3 && failure.action == 1 && failure.place == -1);
    check(counts[0] == 1 && counts[1] == 1);
}

// Addresses get to their slots, and bytes from one array to the next.
void test_copies_and_fills() {
    Pool pool(1);
    std::array<uint16_t, 5> first = {}, second = {};
    const uint64_t addresses[] = {reinterpret_cast<uint64_t>(first.data()),
                                  reinterpret_cast<uint64_t>(second.data())};
    uint64_t slots[4] = {0, 7, 0, 0};
    const std::array<brimstone_place, 3> places = {{{0, 0, 2}, {2, 1, 0}, {3, 0, 0}}};
    const std::array<brimstone_action, 2> actions = {
        {{BRIMSTONE_FILL, 0, 3, 2}, {BRIMSTONE_COPY, 2, 10, 0}}};
    const brimstone_script script = {places.data(), actions.data(), nullptr,
                                     nullptr, nullptr, 3, 2, 0};
    Failure failure;
    check(run(pool, script, addresses, slots, 0, failure) == 2);
    check(second == std::array<uint16_t, 5>{0, 7, 7, 7, 0});
}

// Where an index names no place, what comes after it is not done, and one is told which it was.
template <typename Integer>
void test_indices(Integer outside, bool is_signed) {
    Pool pool(1);
    std::array<Integer, 6> indices = {3, 0, 0, 6, 1, 4};
    int counts[2] = {};
    uint64_t slots[] = {reinterpret_cast<uint64_t>(counts),
                        reinterpret_cast<uint64_t>(indices.data()), sizeof(Integer), is_signed, 2,
                        4, 7};
    const auto one = launch({2, 1, 1}, 0, 1, 0);
    const std::vector<brimstone_action> actions = {{BRIMSTONE_INSIDE, 1, 6, 0},
                                                   {BRIMSTONE_ALONE, 0, 1, 0}};
    check(plays(pool, {one}, actions, slots));
    indices[5] = 6;
    check(plays(pool, {one}, actions, slots));
    for (const auto wrong : {Integer{7}, outside}) {
        indices[5] = wrong;
        Failure failure = {};
        check(play(pool, {one}, actions, slots, failure) == -1);
        check(failure.script == 3 && failure.action == 0 && failure.place == 5);
        check(failure.index == static_cast<int64_t>(wrong));
    }
    check(counts[0] == 2 && counts[1] == 2);
}

void test_indices_of_every_type() {
    test_indices<int8_t>(-1, true);
    test_indices<int16_t>(-300, true);
    test_indices<int32_t>(-1, true);
    test_indices<int64_t>(INT64_MIN, true);
    test_indices<uint8_t>(200, false);
    test_indices<uint16_t>(60000, false);
    test_indices<uint32_t>(UINT32_MAX, false);
    test_indices<uint64_t>(UINT64_MAX, false);
}

void sleep_a_while(const uint64_t *, const int64_t *, const int64_t *) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
}

// A long script comes back in between, and goes on where it was.
void test_patience() {
    Pool pool(2);
    auto slow = launch({1, 1, 1}, 0, 1, 0);
    slow.code = sleep_a_while;
    uint64_t slots[1] = {};
    const std::vector<brimstone_action> actions(6, {BRIMSTONE_SHARE, 0, 1, 1});
    const brimstone_script script = {nullptr, actions.data(), &slow, nullptr, nullptr, 0, 6, 0};
    int calls = 0;
    Failure failure;
    for (int64_t done = 0; done < 6; ++calls) {
        const int64_t after = run(pool, script, nullptr, slots, done, failure);
        check(after > done);
        done = after;
    }
    check(calls >= 3);
}

// Of what nobody wants to know any more, nothing more is done.
void test_not_wanted() {
    Pool pool(2);
    const std::vector<brimstone_launch> launches(4, launch({2, 1, 1}, 0, 1, 0));
    const std::vector<brimstone_action> actions(4, {BRIMSTONE_ALONE, 0, 1, 1});
    const brimstone_script script = {nullptr, actions.data(), launches.data(), nullptr,
                                     nullptr, 0, 4, 0};
    int counts[2] = {};
    Failure failure;
    uint64_t slots[] = {reinterpret_cast<uint64_t>(counts)};
    const auto less = [](const void *count) { return *static_cast<const int *>(count) < 2; };
    check(run(pool, script, nullptr, slots, 0, Time::max(), less, counts, failure) == 4);
    check(counts[0] == 2 && counts[1] == 2);
}

// Each Python thread runs scripts of its own.
void test_many_threads() {
    Pool pool(2);
    in_threads(4, [&] {
        for (int i = 0; i < 500; ++i)
            check(counts_once(pool, with_room(launch({7, 1, 1}, 0, 3, 0), 128)));
    });
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_every_program_runs_once();
    test_launches_at_once();
    test_no_memory();
    test_copies_and_fills();
    test_indices_of_every_type();
    test_patience();
    test_not_wanted();
    test_many_threads();
    return exit_status();
}
