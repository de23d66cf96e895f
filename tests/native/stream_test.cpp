// Streams: tasks are done in order, whoever runs them.
#include "stream.hpp"
#include "streams.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "check.hpp"
#include "gone.hpp"
#include "jobs.hpp"
#include "memory.hpp"
#include "steps.hpp"

namespace brimstone {
namespace {

constexpr int64_t LITTLE = 1, MUCH = int64_t{16} << 20, VERY_MUCH = int64_t{1} << 40;

double seconds_since(Time start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t sum_of(Stream &stream, const std::vector<Program *> &programs, int count) {
    brimstone_arrays *arrays = zeros();
    for (int i = 0; i < count; ++i)
        arrays = call(stream, *programs[static_cast<size_t>(i) % programs.size()], arrays);
    return number(arrays);
}

void test_one_after_the_other(int threads) {
    Pool pool(threads);
    Stream &stream = *open_stream(pool);
    const Adding little(1, 0, LITTLE), much(10, 0, MUCH, 3), very_much(100, 0, VERY_MUCH);
    const size_t before = blocks().statistics().in_use;
    {
        Program first(little.plan), second(much.plan), third(very_much.plan);
        check(sum_of(stream, {&first}, 100) == 100);
        check(sum_of(stream, {&second}, 100) == 3000);
        check(sum_of(stream, {&third}, 100) == 10000);
        check(sum_of(stream, {&first, &second, &third}, 300) == 13100);
        while (!stream.wait_for_all()) {
        }
        for (const Program *program : {&first, &second, &third}) settle(*program);
    }
    check(blocks().statistics().in_use == before);
    close_stream(&stream);
}

// Who asks for much goes on at once; who waits for a value waits for no more than that.
void test_asking_takes_no_time() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding slow(1, 100, MUCH);
    Program program(slow.plan);
    const Time start = Clock::now();
    brimstone_arrays *first = call(stream, program, zeros());
    brimstone_arrays *second = call(stream, program, again(first));
    check(seconds_since(start) < 0.09);
    check(number(first) == 1);
    check(seconds_since(start) < 0.19);
    check(number(second) == 2);
    close_stream(&stream);
    settle(program);
}

// The arrays of one stream are computed on another one, and the other way round.
void test_across_streams() {
    Pool pool(2);
    Stream &left = *open_stream(pool), &right = *open_stream(pool);
    check(&left != &right);
    const Adding adding(1, 1, MUCH);
    Program program(adding.plan);
    brimstone_arrays *arrays = zeros();
    for (int i = 0; i < 40; ++i) arrays = call(i % 2 ? left : right, program, arrays);
    check(number(arrays) == 40);
    close_stream(&left);
    close_stream(&right);
    settle(program);
}

// Whatever needs what could not be computed cannot be computed either, and nothing else suffers.
void test_no_memory() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    Adding without(1, 0, MUCH);
    without.launches[0].room = int64_t{1} << 60;
    without.launches[0].scratch_count = 1;
    const int64_t offset = 0;
    without.launches[0].scratch_offsets = &offset;
    const Adding after(1, 0, MUCH);
    Program failing(without.plan), program(after.plan);
    brimstone_arrays *failed = call(stream, failing, zeros());
    brimstone_arrays *next = call(stream, program, again(failed));
    check(wait(next) == State::FAILED && wait(failed) == State::FAILED);
    check(next->items()[0]->failure.script == 7 && next->items()[0]->failure.action == 0);
    leave(next);
    leave(failed);
    check(sum_of(stream, {&program}, 5) == 5);
    Adding large(1);
    large.made = int64_t{1} << 60;
    Program too_large(large.plan);
    brimstone_arrays *given = zeros();
    check(!too_large.call({&given, 1}, &stream));
    check(!too_large.under_way());
    leave(given);
    close_stream(&stream);
    settle(failing);
    settle(program);
}

// What it was to replace is what it was, and there for those who asked before.
void test_no_memory_changes_nothing() {
    const auto bytes = [] { return blocks().statistics().in_use; };
    const size_t before = bytes();
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    Adding taking(1), large(1);
    taking.replace();
    large.replace();
    large.plan.arena = int64_t{1} << 60;
    const Adding slow(1, 50, MUCH), reading(100, 0, MUCH);
    Program take(taking.plan), wait(slow.plan), read(reading.plan), too_large(large.plan);
    brimstone_arrays *numbers = zeros();
    for (int i = 0; i < 4; ++i) numbers = call(stream, take, numbers);
    brimstone_arrays *first = call(stream, wait, zeros());
    brimstone_arrays *made = call(stream, read, again(numbers));
    check(!too_large.call({&numbers, 1}, &stream, true));
    numbers = call(stream, take, numbers);
    check(!too_large.call({&numbers, 1}, &stream, true));
    check(lend(numbers));
    check(number(first) == 1 && number(made) == 104 && number(numbers) == 5);
    settle(read);
    settle(take);
    close_stream(&stream);
    check(bytes() == before);
}

// What is given away is replaced; what somebody else sees is copied.
void test_replacing() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    for (const int64_t work : {LITTLE, MUCH}) {
        Adding adding(1, 0, work);
        adding.replace();
        const size_t before = blocks().statistics().in_use;
        Program program(adding.plan);
        brimstone_arrays *arrays = call(stream, program, zeros());
        const uint64_t address = arrays->addresses()[0];
        for (int i = 0; i < 1000; ++i) arrays = call(stream, program, arrays);
        check(arrays->addresses()[0] == address);

        brimstone_arrays *kept = again(arrays);
        arrays = call(stream, program, arrays);
        check(arrays->addresses()[0] != address && number(kept) == 1001);
        arrays = call(other, program, arrays);
        arrays = call(other, program, arrays);
        check(number(arrays) == 1004);
        settle(program);
        while (!stream.wait_for_all() || !other.wait_for_all()) {
        }
        check(blocks().statistics().in_use == before);
    }
    close_stream(&stream);
    close_stream(&other);
}

// What a program is given may be what it gives back, and so may parts of what it makes.
void test_results() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    Adding adding(1, 0, MUCH);
    adding.results = {{2, 0, BYTES, 1}, {1, 0, BYTES, 1}, {2, 8, 16, 0}, {2, 0, BYTES, 1}};
    adding.plan.results = adding.results.data();
    adding.plan.result_count = 4;
    const size_t before = blocks().statistics().in_use;
    {
        Program program(adding.plan);
        brimstone_arrays *arrays = call(stream, program, zeros());
        check(wait(arrays) == State::READY);
        const auto items = arrays->items();
        check(items[0] == items[3] && items[2]->base == items[0] && items[2]->bytes == 16);
        check(*reinterpret_cast<int64_t *>(items[1]->address) == 0);
        check(*reinterpret_cast<int64_t *>(items[2]->address) == 1);
        leave(arrays);
        settle(program);
    }
    check(blocks().statistics().in_use == before);
    close_stream(&stream);
}

// Who has gone cannot ask for what he has not kept.
void test_what_nobody_wants_is_not_done() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding slow(1, 10, MUCH, 500);
    Program program(slow.plan);
    const Time start = Clock::now();
    leave(call(stream, program, zeros()));
    close_stream(&stream);
    settle(program);
    check(seconds_since(start) < 2);
}

// Who waits behind what nobody wants does not wait for its end; nor is he kept by what nobody wants
// that stands between the two.
void test_nobody_waits_for_what_nobody_wants() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    for (const int64_t work : {MUCH, VERY_MUCH}) {
        const Adding slow(1, 10, work, 2000), soon(1, 0, LITTLE);
        Program endless(slow.plan), next(soon.plan);
        const Time start = Clock::now();
        leave(call(stream, endless, call(stream, endless, zeros())));
        check(number(call(stream, next, zeros())) == 1);
        check(seconds_since(start) < 10);
        settle(endless);
        settle(next);
    }
    close_stream(&stream);
}

// However long he waits for what somebody wants.
void test_what_somebody_wants_is_done() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding slow(1, 10, MUCH, 250), soon(1, 0, LITTLE);
    Program longer(slow.plan), next(soon.plan);
    brimstone_arrays *made = call(stream, longer, zeros());
    check(number(call(stream, next, zeros())) == 1);
    check(number(made) == 250);
    settle(longer);
    settle(next);
    close_stream(&stream);
}

// Nor is what he has left to whoever comes next, for nobody may come.
void test_what_is_gone_is_not_done() {
    Pool pool(2);
    const Adding slow(1, 10, MUCH, 500);
    Program program(slow.plan);
    const Time start = Clock::now();
    for (const bool is_closed : {false, true}) {
        Stream &stream = *open_stream(pool);
        brimstone_arrays *made = call(stream, program, zeros());
        if (is_closed) close_stream(&stream);
        check(leave_to_next(made, BYTES));
        if (!is_closed) close_stream(&stream);
        settle(program);
    }
    check(seconds_since(start) < 4);
}

// Only so much is left.
void test_not_much_is_left_to_others() {
    brimstone_arrays *small = zeros(), *large = zeros();
    check(leave_to_next(small, 1000) && !leave_to_next(large, (int64_t{1} << 20) - 1000));
    std::vector taken{large};
    check(take_gone(taken) == 1 && taken == std::vector{small, large} && take_gone(taken) == 0);
    check(leave_to_next(small, (int64_t{1} << 20) - 1000));
    leave(large);
    drop_gone();
}

// What was asked for later holds what it is given, and is for nobody, either.
void test_chains_that_nobody_wants_are_not_done(bool across) {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding slow(1, 10, MUCH, 500), quick(1);
    Program program(slow.plan), behind(quick.plan);
    const Time start = Clock::now();
    brimstone_arrays *made = call(stream, program, zeros());
    for (int i = 0; i < 4; ++i) made = call(across ? other : stream, behind, made);
    leave(made);
    close_stream(&other);
    close_stream(&stream);
    settle(behind);
    settle(program);
    check(seconds_since(start) < 2);
}

// But what somebody holds of them is.
void test_links_of_a_chain_that_somebody_wants_are_done() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding slow(1, 50, MUCH), quick(1);
    Program program(slow.plan), behind(quick.plan);
    brimstone_arrays *made = call(stream, program, zeros()), *kept = nullptr;
    for (int i = 0; i < 4; ++i) {
        if (i == 2) kept = again(made);
        made = call(stream, behind, made);
    }
    leave(made);
    close_stream(&stream);
    check(number(kept) == 3);
    settle(behind);
    settle(program);
}

// Nor does it take the memory with it that is still to be read: numbers that took the place of
// others, and were to be replaced themselves.
void test_what_is_not_done_leaves_what_is_read() {
    const size_t before = blocks().statistics().in_use;
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    Adding taking(1);
    taking.replace();
    const Adding slow(1, 50, MUCH), adding(100, 0, MUCH);
    Program take(taking.plan), wait(slow.plan), read(adding.plan);
    brimstone_arrays *numbers = zeros();
    for (int i = 0; i < 3; ++i) numbers = call(stream, take, numbers);
    brimstone_arrays *first = call(stream, wait, zeros());
    brimstone_arrays *made = ask(stream, read, numbers);
    leave(call(stream, take, numbers));
    close_stream(&stream);
    brimstone_arrays *others[64];  // to which memory goes that nobody has any more
    for (brimstone_arrays *&each : others) each = zeros();
    check(number(first) == 1 && number(made) == 103);
    for (brimstone_arrays *each : others) leave(each);
    settle(read);
    settle(take);
    check(blocks().statistics().in_use == before);
}

// Who asks for what never ends goes on, and so does who waits for it; the end of all is that nobody
// wants it any more.
void test_without_end(int threads) {
    Pool pool(threads);
    Stream &stream = *open_stream(pool);
    Adding endless(1, 0, LITTLE);
    endless.actions = {{BRIMSTONE_UNLESS, 0, 3, 0}, {BRIMSTONE_ALONE, 0, 1, 0},
                       {BRIMSTONE_JUMP, 0, -2, 4096}};
    endless.plan.script.actions = endless.actions.data();
    endless.plan.script.action_count = 3;
    Program program(endless.plan);
    brimstone_arrays *given = zeros();
    *given->items()[0]->address = 1;
    const Time start = Clock::now();
    brimstone_arrays *made = call(stream, program, given);
    for (int i = 0; i < 3; ++i) check(!stream.wait(*made->items()[0]));
    check(seconds_since(start) < 1);
    close_stream(&stream);
    leave(made);
    settle(program);
}

// Little is left waiting, however much is asked for.
void test_who_asks_too_much_waits() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding slow(1, 1, MUCH);
    Program program(slow.plan);
    const Time start = Clock::now();
    check(sum_of(stream, {&program}, 100) == 100);
    check(seconds_since(start) > 0.09);
    close_stream(&stream);
    settle(program);
}

void test_many_threads() {
    Pool pool(2);
    const Adding little(1, 0, LITTLE), much(10, 0, MUCH, 2);
    Program first(little.plan), second(much.plan);
    in_threads(4, [&] {
        Stream &stream = *open_stream(pool);
        for (int i = 0; i < 20; ++i) check(sum_of(stream, {&first, &second}, 60) == 630);
        close_stream(&stream);
    });
    settle(first);
    settle(second);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_one_after_the_other(1);
    test_one_after_the_other(3);
    test_asking_takes_no_time();
    test_across_streams();
    test_no_memory();
    test_no_memory_changes_nothing();
    test_replacing();
    test_results();
    test_what_nobody_wants_is_not_done();
    test_nobody_waits_for_what_nobody_wants();
    test_what_somebody_wants_is_done();
    test_what_is_gone_is_not_done();
    test_not_much_is_left_to_others();
    test_chains_that_nobody_wants_are_not_done(false);
    test_chains_that_nobody_wants_are_not_done(true);
    test_links_of_a_chain_that_somebody_wants_are_done();
    test_what_is_not_done_leaves_what_is_read();
    test_without_end(1);
    test_without_end(2);
    test_who_asks_too_much_waits();
    test_many_threads();
    return exit_status();
}
