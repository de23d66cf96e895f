// Results that nobody has any more are made again where they were.
#include <algorithm>
#include <atomic>

#include "check.hpp"
#include "jobs.hpp"
#include "memory.hpp"
#include "steps.hpp"
#include "stream.hpp"
#include "streams.hpp"

namespace brimstone {
namespace {

constexpr int64_t LITTLE = 1, MUCH = int64_t{16} << 20;

// An array of that number.
brimstone_arrays *all_of(int64_t number) {
    brimstone_arrays *made = zeros();
    std::fill_n(reinterpret_cast<int64_t *>(made->items()[0]->address), NUMBERS, number);
    return made;
}

// Unless somebody holds one of them, or shows its memory, they are still to be computed, or those
// of another program or stream.
void test_results_are_used_again() {
    Pool pool(2);
    Stream &stream = *open_stream(pool), &other = *open_stream(pool);
    const Adding little(1, 0, LITTLE), more(10, 0, LITTLE), slow(100, 50, MUCH);
    const size_t before = blocks().statistics().in_use;
    {
        Program program(little.plan), same(little.plan), second(more.plan), third(slow.plan);
        brimstone_arrays *arrays = call(stream, program, zeros());
        Array *array = arrays->items()[0];
        check(program.can_use_again(arrays, &stream) && !program.can_use_again(arrays, &other));
        check(!same.can_use_again(arrays, &stream) && !second.can_use_again(arrays, &stream));
        const size_t in_use = blocks().statistics().in_use;
        lend(arrays);
        for (int64_t i = 2; i < 5; ++i) {
            brimstone_arrays *made = call(stream, program, all_of(i), arrays);
            check(made == arrays && made->items()[0] == array && can_be_taken(*array, &stream));
            check(number(again(made)) == i + 1 && blocks().statistics().in_use == in_use);
        }
        hold(array);
        check(!program.can_use_again(arrays, &stream));
        drop({&array, 1});
        Array *part = part_of(*array, 0, 8, &stream);
        check(!program.can_use_again(arrays, &stream));
        drop({&part, 1});
        check(program.can_use_again(arrays, &stream));
        leave(arrays);
        brimstone_arrays *late = call(stream, third, zeros());
        check(!third.can_use_again(late, &stream));
        check(number(late) == 100);
        for (const Program *each : {&program, &third}) settle(*each);
    }
    check(blocks().statistics().in_use == before);
    close_stream(&stream);
    close_stream(&other);
}

// What is spare goes where there is no memory for the call.
void test_what_is_spare_is_not_lost() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    Adding adding(1, 0, LITTLE), large(1, 0, LITTLE);
    large.plan.arena = int64_t{1} << 60;
    const size_t before = blocks().statistics().in_use;
    {
        Program program(adding.plan), too_large(large.plan);
        brimstone_arrays *spare = call(stream, program, zeros()), *given = zeros();
        check(!too_large.call({&given, 1}, &stream, false, spare));
        leave(given);
        settle(program);
    }
    check(blocks().statistics().in_use == before);
    close_stream(&stream);
}

void test_what_was_taken_is_not_lent() {
    Pool pool(2);
    const Stream &stream = *open_stream(pool);
    brimstone_arrays *given = zeros();
    std::atomic<Use> &use = given->items()[0]->use;
    given->are_taken = true;
    use = Use::TAKEN;
    check(!lend_to(&stream, {&given, 1}));
    use = Use::FREE;
    check(lend_to(&stream, {&given, 1}));
    check(use == Use::LENT);
    leave(given);
}

// Who sees an array while somebody else tries to take it notes that it is taken, though that one
// gives it up, as it is seen.
void test_what_was_nearly_taken_can_be_used() {
    Pool pool(2);
    Stream &stream = *open_stream(pool);
    const Adding adding(1, 0, LITTLE);
    const size_t before = blocks().statistics().in_use;
    {
        Program program(adding.plan);
        brimstone_arrays *given = all_of(5);
        given->are_taken = true;
        check(number(call(stream, program, given)) == 6);
        settle(program);
    }
    check(blocks().statistics().in_use == before);
    close_stream(&stream);
}

// Another thread lets go of what is to be used again, or has not done so yet.
void test_threads_let_go_of_what_is_used_again() {
    Pool pool(2);
    const Adding adding(1, 0, LITTLE);
    const size_t before = blocks().statistics().in_use;
    {
        Program program(adding.plan);
        std::atomic<brimstone_arrays *> shown = nullptr;
        std::atomic<int> times = 0;
        in_threads(4, [&] {
            Stream &stream = *open_stream(pool);
            brimstone_arrays *spare = nullptr;
            for (int64_t i = 0; i < 3000; ++i) {
                brimstone_arrays *made = call(stream, program, all_of(i), spare);
                check(number(again(made)) == i + 1);
                if (i % 3 == 0) leave(shown.exchange(again(made)));
                spare = program.can_use_again(made, &stream) ? made : nullptr;
                times += spare != nullptr;
                if (!spare) leave(made);
            }
            leave(spare);
            close_stream(&stream);
        });
        check(times > 6000);
        leave(shown);
        settle(program);
    }
    check(blocks().statistics().in_use == before);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_results_are_used_again();
    test_what_is_spare_is_not_lost();
    test_what_was_taken_is_not_lent();
    test_what_was_nearly_taken_can_be_used();
    test_threads_let_go_of_what_is_used_again();
    return exit_status();
}
