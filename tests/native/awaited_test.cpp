// Programs whose results are wanted at once: who wants them computes them.
#include <chrono>
#include <thread>

#include "check.hpp"
#include "jobs.hpp"
#include "steps.hpp"
#include "stream.hpp"

namespace brimstone {
namespace {

constexpr int64_t MUCH = int64_t{16} << 20, VERY_MUCH = int64_t{1} << 40;

bool is_pending(brimstone_arrays *arrays) {
    return arrays->items()[0]->state.load() == State::PENDING;
}

// A call that nobody begins, as those before it were waited for at once; a runner that was called
// for one of those may come late, and find another.
brimstone_arrays *call_later(Stream &stream, Program &program) {
    for (;;) {
        while (!program.is_awaited()) check(number(call(stream, program, zeros())) == 1);
        brimstone_arrays *made = call(stream, program, zeros());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (is_pending(made)) return made;
        check(number(made) == 1);
    }
}

// What is wanted at once is left to who wants it, until he waits no more, or asks for more, or goes.
void test_what_is_wanted_at_once_waits_for_that() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, MUCH);
    Program program(adding.plan);
    check(!program.is_awaited());
    check(number(call_later(stream, program)) == 1);
    check(program.is_awaited());  // who is late once may have had to wait for a core
    check(number(call_later(stream, program)) == 1);
    check(!program.is_awaited());
    brimstone_arrays *begun = call(stream, program, zeros());
    while (is_pending(begun)) std::this_thread::yield();
    check(number(begun) == 1);

    brimstone_arrays *first = call_later(stream, program);
    brimstone_arrays *second = call(stream, program, again(first));
    while (is_pending(second)) std::this_thread::yield();
    check(number(second) == 2);
    leave(first);

    leave(call_later(stream, program));
    close_stream(&stream);
    settle(program);
}

void test_who_is_late_twice_in_turn_is_not_waited_for() {
    const Adding adding(1, 0, MUCH);
    Program program(adding.plan);
    program.await(false);
    check(!program.is_awaited(true));  // known from the first time on
    program.await(true);
    for (const bool expected : {true, false, false}) {
        program.await(false);
        check(program.is_awaited() == expected);
    }
    program.await(true);
    check(program.is_awaited());
    program.go_on_without();
    check(!program.is_awaited());
}

// What is called for the first time is taken for what was called before; a runner that was called
// for that may come late here, too.
void test_the_first_call_is_like_the_one_before() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, MUCH);
    Program known(adding.plan);
    for (bool was_left = false; !was_left;) {
        Program unknown(adding.plan);
        check(!unknown.is_awaited() && unknown.is_awaited(true));
        while (!known.is_awaited()) check(number(call(stream, known, zeros())) == 1);
        check(number(call(stream, known, zeros())) == 1);
        brimstone_arrays *made = call(stream, unknown, zeros());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        was_left = is_pending(made);
        check(number(made) == 1);
        settle(unknown);
    }
    close_stream(&stream);
    settle(known);
}

// Of the calls of one who has always wanted them at once, a sixteenth finds out whether he does.
void test_who_is_sure_is_asked_again() {
    const Adding adding(1, 0, MUCH);
    Program program(adding.plan);
    const auto sure = [&](int calls) {
        int count = 0;
        for (int i = 0; i < calls; ++i) count += program.is_surely_awaited();
        return count;
    };
    check(sure(160) == 0);
    program.await(true);
    check(sure(160) == 150);
    program.await(false);
    check(program.is_awaited() && sure(160) == 0);
    program.await(true);
    check(sure(160) == 150);
    program.go_on_without();
    check(sure(160) == 0);
}

// Then they are there when the call returns; but what takes long is not, nor what is not there to
// be computed with.
void test_what_is_surely_wanted_is_done_by_the_call() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding adding(1, 0, MUCH), slow(1, 50, MUCH), very_much(1, 0, VERY_MUCH);
    Program program(adding.plan), before(slow.plan), large(very_much.plan);
    int done = 0;
    for (int i = 0; i < 200; ++i) {
        brimstone_arrays *made = call(stream, program, zeros());
        done += !is_pending(made);
        check(number(made) == 1);
    }
    check(done > 100 && done < 200);

    for (int i = 0; i < 3; ++i) {
        program.await(true);
        before.go_on_without();
        brimstone_arrays *made = call(stream, program, call(other, before, zeros()));
        check(is_pending(made));
        check(number(made) == 2);
        large.await(true);
        check(number(call(stream, large, zeros())) == 1);
    }
    close_stream(&stream);
    close_stream(&other);
    for (const Program *each : {&program, &before, &large}) settle(*each);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_what_is_wanted_at_once_waits_for_that();
    test_who_is_late_twice_in_turn_is_not_waited_for();
    test_the_first_call_is_like_the_one_before();
    test_who_is_sure_is_asked_again();
    test_what_is_surely_wanted_is_done_by_the_call();
    return exit_status();
}
