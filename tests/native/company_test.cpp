// Little work where several threads ask for some: it is left until somebody waits for it, until it
// is no longer little, or until it has been left for long enough.
#include <thread>

#include "asker.hpp"
#include "check.hpp"
#include "steps.hpp"
#include "stream.hpp"
#include "streams.hpp"

namespace brimstone {
namespace {

constexpr int64_t LITTLE = int64_t{5} << 20, MUCH = int64_t{16} << 20;

// Another thread asks for something.
void have_company() {
    std::thread([] { Asker().asks(Clock::now()); }).join();
}

bool is_pending(const brimstone_arrays *arrays) {
    return const_cast<brimstone_arrays *>(arrays)->items()[0]->state.load() == State::PENDING;
}

// Whether a stream would leave what a program makes, once it has been seen in company.
bool leaves_in_company(Stream &stream, Program &program) {
    have_company();
    check(number(call(stream, program, zeros())) == 1);
    program.haste()->went_on_without();
    return stream.leaves(program);
}

// Calls in a row that are left, all of them; who has no core for a while has had no company.
std::vector<brimstone_arrays *> left(Stream &stream, Program &program, int count) {
    for (;;) {
        std::vector<brimstone_arrays *> made;
        bool are_left = leaves_in_company(stream, program);
        for (int i = 0; i < count; ++i) {
            made.push_back(call(stream, program, i ? again(made.back()) : zeros()));
            are_left = are_left && is_pending(made.back());
        }
        if (are_left) return made;
        for (int i = 0; i < count; ++i) check(number(made[static_cast<size_t>(i)]) == i + 1);
    }
}

void test_alone_nothing_is_left() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE);
    Program program(adding.plan);
    for (int i = 0; i < 3; ++i) {
        check(!stream.leaves(program));
        brimstone_arrays *made = call(stream, program, zeros());
        check(!is_pending(made) && number(made) == 1);
    }
    close_stream(&stream);
    settle(program);
}

void test_who_waits_does_what_is_left() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE);
    Program program(adding.plan);
    std::vector<brimstone_arrays *> made = left(stream, program, 3);
    check(number(made[2]) == 3 && !is_pending(made[0]) && !is_pending(made[1]));
    leave(made[0]);
    leave(made[1]);
    close_stream(&stream);
    settle(program);
}

// Who wants one value does what stands before that, and leaves the rest once more.
void test_who_waits_for_one_leaves_the_next() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE);
    Program program(adding.plan);
    for (bool was_left = false; !was_left;) {
        std::vector<brimstone_arrays *> made = left(stream, program, 2);
        check(number(made[0]) == 1);
        was_left = is_pending(made[1]);
        check(number(made[1]) == 2);
    }
    close_stream(&stream);
    settle(program);
}

void test_what_is_no_longer_little_is_done_by_who_asks() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE), more(1, 0, MUCH);
    Program program(adding.plan), much(more.plan);
    for (bool was_done = false; !was_done;) {
        std::vector<brimstone_arrays *> made = left(stream, program, 3);
        check(!stream.leaves(program));
        brimstone_arrays *last = call(stream, program, again(made[2]));
        was_done = !is_pending(last);
        check(number(last) == 4);
        for (brimstone_arrays *each : made) leave(each);
    }
    check(leaves_in_company(stream, program) && !stream.leaves(much));
    close_stream(&stream);
    settle(program);
}

void test_what_is_surely_wanted_is_not_left() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE);
    Program program(adding.plan);
    check(leaves_in_company(stream, program));
    while (!program.haste()->surely_awaits()) program.haste()->wanted(true);
    check(!stream.leaves(program));
    brimstone_arrays *made = call(stream, program, zeros());
    check(!is_pending(made) && number(made) == 1);
    close_stream(&stream);
    settle(program);
}

// Nobody waits for it, nor asks for more.
void test_what_is_left_is_not_forgotten() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE);
    Program program(adding.plan);
    for (int i = 0; i < 3; ++i) {
        std::vector<brimstone_arrays *> made = left(stream, program, 2);
        while (is_pending(made[1])) std::this_thread::yield();
        check(number(made[0]) == 1 && number(made[1]) == 2);
    }
    leave(left(stream, program, 1)[0]);
    close_stream(&stream);
    settle(program);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_alone_nothing_is_left();
    test_who_waits_does_what_is_left();
    test_who_waits_for_one_leaves_the_next();
    test_what_is_no_longer_little_is_done_by_who_asks();
    test_what_is_surely_wanted_is_not_left();
    test_what_is_left_is_not_forgotten();
    return exit_status();
}
