// Little work where several threads ask for some: it is put off until somebody waits for it, until
// it is no longer little, or for a while.
#include <algorithm>
#include <thread>
#include <vector>

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

// A stream, and a program that makes as much work.
struct Scene {
    explicit Scene(int64_t work = LITTLE, int64_t milliseconds = 0, int64_t times = 1)
        : adding(1, milliseconds, work, times) {}
    ~Scene() {
        close_stream(&stream);
        settle(program);
    }
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;

    Pool pool{2};
    Stream &stream = *open_stream(pool);
    const Adding adding;
    Program program{adding.plan};
};

// Whether a stream puts off what a program makes, once it has been seen in company.
bool puts_off_in_company(Stream &stream, Program &program) {
    have_company();
    check(number(call(stream, program, zeros())) == 1);
    program.haste()->went_on_without();
    return stream.puts_off(program);
}

// Calls in a row that are put off, all of them; who has no core for a while has had no company.
std::vector<brimstone_arrays *> put_off(Stream &stream, Program &program, int count) {
    for (;;) {
        std::vector<brimstone_arrays *> made;
        bool are_put_off = puts_off_in_company(stream, program);
        for (int i = 0; i < count; ++i) {
            made.push_back(call(stream, program, i ? again(made.back()) : zeros()));
            are_put_off = are_put_off && is_pending(made.back());
        }
        if (are_put_off) return made;
        for (int i = 0; i < count; ++i) check(number(made[static_cast<size_t>(i)]) == i + 1);
    }
}

void test_alone_nothing_is_put_off() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    for (int i = 0; i < 3; ++i) {
        check(!stream.puts_off(program));
        brimstone_arrays *made = call(stream, program, zeros());
        check(!is_pending(made) && number(made) == 1);
    }
}

void test_who_waits_does_what_was_put_off() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    std::vector<brimstone_arrays *> made = put_off(stream, program, 3);
    check(number(made[2]) == 3 && !is_pending(made[0]) && !is_pending(made[1]));
    leave(made[0]);
    leave(made[1]);
}

// Who wants one value does what stands before that, and puts off the rest once more.
void test_who_waits_for_one_puts_off_the_next() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    for (bool was_put_off = false; !was_put_off;) {
        std::vector<brimstone_arrays *> made = put_off(stream, program, 2);
        check(number(made[0]) == 1);
        was_put_off = is_pending(made[1]);
        check(number(made[1]) == 2);
    }
}

void test_what_is_no_longer_little_is_done_by_who_asks() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    const Adding more(1, 0, MUCH);
    Program much(more.plan);
    for (bool was_done = false; !was_done;) {
        std::vector<brimstone_arrays *> made = put_off(stream, program, 3);
        check(!stream.puts_off(program));
        brimstone_arrays *last = call(stream, program, again(made[2]));
        was_done = !is_pending(last);
        check(number(last) == 4);
        for (brimstone_arrays *each : made) leave(each);
    }
    check(puts_off_in_company(stream, program) && !stream.puts_off(much));
}

void test_what_is_surely_wanted_is_not_put_off() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    check(puts_off_in_company(stream, program));
    while (!program.haste()->surely_awaits()) program.haste()->wanted(true);
    check(!stream.puts_off(program));
    brimstone_arrays *made = call(stream, program, zeros());
    check(!is_pending(made) && number(made) == 1);
}

// Until nobody reads it any more.
void test_what_is_not_read_is_put_off_again() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    check(puts_off_in_company(stream, program));
    while (!program.haste()->surely_awaits()) program.haste()->wanted(true);
    bool is_put_off = false;
    for (int i = 0; i < 10 && !is_put_off; ++i) {
        have_company();
        leave(call(stream, program, zeros()));
        is_put_off = stream.puts_off(program);
    }
    check(is_put_off);
}

// The last call for which there is room does them all.
void test_most_of_many_calls_are_put_off() {
    Scene scene(0);
    Stream &stream = scene.stream;
    Program &program = scene.program;
    int most = 0;
    for (int i = 0; i < 20 && most < 90; ++i) {
        int found = 0;
        check(puts_off_in_company(stream, program));
        for (int j = 0; j < 100; ++j) {
            found += stream.puts_off(program);
            leave(call(stream, program, zeros()));
        }
        most = std::max(most, found);
    }
    check(most >= 90);
}

// What is done by the call, and takes longer than it should, is not put off.
void test_what_takes_long_is_for_the_runner() {
    Scene scene(LITTLE, 5, 10);
    Stream &stream = scene.stream;
    Program &program = scene.program;
    auto least = Clock::duration::max();
    for (int i = 0; i < 5; ++i) {
        have_company();
        while (!program.haste()->surely_awaits()) program.haste()->wanted(true);
        const Time start = Clock::now();
        brimstone_arrays *made = call(stream, program, zeros());
        check(is_pending(made));
        while (is_pending(made)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        least = std::min(least, Clock::now() - start);
        check(number(made) == 10);
    }
    check(least < std::chrono::milliseconds(90));
}

// Nobody waits for it, nor asks for more.
void test_what_is_put_off_is_not_forgotten() {
    Scene scene;
    Stream &stream = scene.stream;
    Program &program = scene.program;
    for (int i = 0; i < 3; ++i) {
        std::vector<brimstone_arrays *> made = put_off(stream, program, 2);
        while (is_pending(made[1])) std::this_thread::yield();
        check(number(made[0]) == 1 && number(made[1]) == 2);
    }
    leave(put_off(stream, program, 1)[0]);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_alone_nothing_is_put_off();
    test_who_waits_does_what_was_put_off();
    test_who_waits_for_one_puts_off_the_next();
    test_what_is_no_longer_little_is_done_by_who_asks();
    test_what_is_surely_wanted_is_not_put_off();
    test_what_is_not_read_is_put_off_again();
    test_most_of_many_calls_are_put_off();
    test_what_takes_long_is_for_the_runner();
    test_what_is_put_off_is_not_forgotten();
    return exit_status();
}
