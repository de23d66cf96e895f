// Calls that take so little that who makes them should keep a lock others wait for.
#include <chrono>
#include <thread>

#include "check.hpp"
#include "pool.hpp"
#include "steps.hpp"
#include "stream.hpp"

namespace brimstone {
namespace {

constexpr int64_t MUCH = int64_t{16} << 20;

// Whether a stream says so of a program that it does at once.
bool is_brief(Stream &stream, Program &program) {
    brimstone_arrays *given = zeros();
    Task *task = program.call({&given, 1}, &stream);
    brimstone_arrays *made = hold(task->results);
    const bool found = stream.push(*task);
    leave(given);
    check(number(made) == 1);
    return found;
}

// The same, asked for by another thread.
bool is_brief_elsewhere(Stream &stream, Program &program) {
    bool found = false;
    std::thread([&] { found = is_brief(stream, program); }).join();
    return found;
}

// Of many tries one at least, since any may have to wait for a core.
bool is_ever_brief(Stream &stream, Program &program) {
    for (int i = 0; i < 1000; ++i)
        if (is_brief(stream, program)) return true;
    return false;
}

// Also if it has had several streams.
void test_a_thread_that_is_alone_keeps_nobody_waiting() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding adding(1);
    Program program(adding.plan);
    for (Stream *each : {&stream, &other, &stream}) check(!is_ever_brief(*each, program));
    for (Stream *each : {&stream, &other}) close_stream(each);
    settle(program);
}

// Who waits meanwhile could not even be interrupted.
void test_what_may_take_longer_the_next_time_is_not_brief() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    Adding adding(1);
    adding.actions.push_back({BRIMSTONE_JUMP, 0, 1, 0});
    adding.plan.script.actions = adding.actions.data();
    ++adding.plan.script.action_count;
    Program program(adding.plan);
    is_brief_elsewhere(other, program);
    check(!is_ever_brief(stream, program));
    for (Stream *each : {&stream, &other}) close_stream(each);
    settle(program);
}

void test_in_company_little_is_brief_for_a_while() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding adding(1);
    Program program(adding.plan);
    for (int i = 0; i < 3; ++i) {
        is_brief_elsewhere(other, program);
        check(is_ever_brief(stream, program));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    check(!is_ever_brief(stream, program));
    for (Stream *each : {&stream, &other}) close_stream(each);
    settle(program);
}

void test_what_takes_long_is_not_brief() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding slow(1, 1);
    Program program(slow.plan);
    for (int i = 0; i < 5; ++i) {
        check(!is_brief(stream, program));
        check(!is_brief_elsewhere(other, program));
    }
    for (Stream *each : {&stream, &other}) close_stream(each);
    settle(program);
}

void test_the_shortest_of_late_counts() {
    using std::chrono::microseconds;
    Haste haste;
    check(!haste.is_brief());
    haste.took(microseconds(10));
    haste.took(microseconds(10'000));  // as it had to wait for a core
    check(haste.is_brief());
    for (int i = 0; i < 20; ++i) haste.took(microseconds(100));
    check(!haste.is_brief());
}

void test_a_stream_is_idle_when_nothing_is_left() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding slow(1, 20, MUCH);
    Program program(slow.plan);
    check(stream.is_idle());
    brimstone_arrays *made = call(stream, program, zeros());
    check(!stream.is_idle());
    check(number(made) == 1);
    while (!stream.is_idle()) std::this_thread::yield();
    close_stream(&stream);
    settle(program);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_a_thread_that_is_alone_keeps_nobody_waiting();
    test_in_company_little_is_brief_for_a_while();
    test_what_may_take_longer_the_next_time_is_not_brief();
    test_what_takes_long_is_not_brief();
    test_the_shortest_of_late_counts();
    test_a_stream_is_idle_when_nothing_is_left();
    return exit_status();
}
