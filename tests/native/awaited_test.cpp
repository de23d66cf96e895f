// Programs whose results are wanted at once: who wants them computes them.
#include <chrono>
#include <thread>

#include "check.hpp"
#include "jobs.hpp"
#include "steps.hpp"
#include "stream.hpp"
#include "streams.hpp"

namespace brimstone {
namespace {

constexpr int64_t MUCH = int64_t{16} << 20, VERY_MUCH = int64_t{1} << 40;

bool is_pending(brimstone_arrays *arrays) {
    return arrays->items()[0]->state.load() == State::PENDING;
}

// A call that nobody begins, as those before the last were waited for at once; a runner that was
// called for another may come late, and find this one.
brimstone_arrays *call_later(Stream &stream, Program &program) {
    for (;;) {
        for (const bool at_once : {true, false}) program.haste()->wanted(at_once);
        brimstone_arrays *made = call(stream, program, zeros());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (is_pending(made)) return made;
        check(number(made) == 1);
    }
}

// What is wanted at once is left to who wants it, until he waits no more, or asks for more, or
// goes.
void test_what_is_wanted_at_once_waits_for_that() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, MUCH);
    Program program(adding.plan);
    check(!program.haste()->awaits());
    check(number(call_later(stream, program)) == 1);
    check(!program.haste()->awaits());
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
    Haste haste;
    haste.wanted(false);
    check(!haste.awaits(true));  // known from the first time on
    haste.wanted(true);
    for (const bool expected : {true, false, false}) {
        haste.wanted(false);
        check(haste.awaits() == expected);
    }
    haste.wanted(true);
    check(haste.awaits());
    haste.went_on_without();
    check(!haste.awaits());
}

void test_who_wants_several_in_turn_at_once_is_sure() {
    Haste haste;
    const auto wants = [&](int count) {
        for (int i = 0; i < count; ++i) haste.wanted(true);
        return haste.surely_awaits();
    };
    check(!haste.surely_awaits() && !wants(3) && wants(1) && wants(100));
    haste.wanted(false);
    check(haste.awaits() && !wants(3) && wants(1));
    haste.went_on_without();
    check(!wants(3) && wants(1));
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
        check(!unknown.haste()->awaits() && unknown.haste()->awaits(true));
        while (!known.haste()->awaits()) check(number(call(stream, known, zeros())) == 1);
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

// A call whose results are there when it returns, as those before it were waited for at once.
brimstone_arrays *call_now(Stream &stream, Program &program) {
    for (;;) {
        while (!program.haste()->surely_awaits())
            check(number(call(stream, program, zeros())) == 1);
        brimstone_arrays *made = call(stream, program, zeros());
        if (!is_pending(made)) return made;
        check(number(made) == 1);
    }
}

// Who has always wanted them at once has them from the call, until he reads them late, or not.
void test_what_is_surely_wanted_is_done_by_the_call() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, MUCH);
    Program other(adding.plan);
    {
        Program program(adding.plan);
        const Haste &haste = *program.haste();
        check(!haste.surely_awaits());
        leave(call_now(stream, program));
        check(haste.surely_awaits());
        leave(call(stream, program, zeros()));  // the last ones were not read
        check(!haste.awaits());

        brimstone_arrays *made = call_now(stream, program);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        check(wait(made) == State::READY && number(made) == 1);
        made = call(stream, program, zeros());
        check(haste.awaits() && !haste.surely_awaits());
        check(number(made) == 1);

        // What an older call made says nothing of this one.
        brimstone_arrays *older = call_now(stream, program), *newer = call_now(stream, program);
        check(number(older) == 1);
        leave(newer);
        leave(call(stream, program, zeros()));
        check(!haste.awaits());

        int now = 0;
        for (int i = 0; i < 200; ++i) {
            made = call(stream, program, zeros());
            now += !is_pending(made);
            check(number(made) == 1);
        }
        check(now > 100);  // not all, as who has no core is late
        leave(call_now(stream, program));
        check(number(call(stream, other, zeros())) == 1);
        check(!haste.awaits());
        leave(call_now(stream, program));
        settle(program);
    }
    check(number(call(stream, other, zeros())) == 1);  // though the last one is no more
    close_stream(&stream);
    settle(other);
}

// But what takes long is not, nor what is computed of what is not there.
void test_what_is_surely_wanted_may_take_long() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding adding(1, 0, MUCH), slow(1, 50, MUCH), very_much(1, 50, VERY_MUCH);
    Program program(adding.plan), before(slow.plan), large(very_much.plan);
    for (int i = 0; i < 3; ++i) {
        before.haste()->went_on_without();
        while (!program.haste()->surely_awaits()) program.haste()->wanted(true);
        brimstone_arrays *made = call(stream, program, call(other, before, zeros()));
        check(is_pending(made));
        check(number(made) == 2);
        while (!large.haste()->surely_awaits()) large.haste()->wanted(true);
        made = call(stream, large, zeros());
        check(is_pending(made));
        check(number(made) == 1);
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
    test_who_wants_several_in_turn_at_once_is_sure();
    test_the_first_call_is_like_the_one_before();
    test_what_is_surely_wanted_is_done_by_the_call();
    test_what_is_surely_wanted_may_take_long();
    return exit_status();
}
