// Arrays: they live as long as somebody holds them, and go where they came from.
#include "array.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "jobs.hpp"
#include "memory.hpp"

namespace brimstone {
namespace {

size_t in_use() { return blocks().statistics().in_use; }

void test_many_at_once() {
    const size_t before = in_use();
    const std::vector<int64_t> bytes(200, 1000);
    std::vector<Array *> made(200);
    check(make(bytes, nullptr, made));
    std::vector<char *> addresses;
    for (Array *array : made) addresses.push_back(array->address);
    std::ranges::sort(addresses);
    for (size_t i = 1; i < addresses.size(); ++i) check(addresses[i] - addresses[i - 1] >= 1000);
    Array *kept = hold(made[7]);
    drop(made);
    check(in_use() > before);
    drop({&kept, 1});
    check(in_use() == before);
}

void test_all_or_none() {
    const size_t before = in_use();
    std::vector<int64_t> bytes(100, 64);
    bytes[90] = int64_t{1} << 60;
    std::vector<Array *> made(100);
    check(!make(bytes, nullptr, made));
    check(in_use() == before);
}

void test_a_part_holds_the_whole() {
    const size_t before = in_use();
    const int64_t bytes = 4096;
    Array *whole = nullptr;
    check(make({&bytes, 1}, nullptr, {&whole, 1}));
    Array *part = part_of(*whole, 64, 128, nullptr);
    check(part->address == whole->address + 64);
    drop({&whole, 1});
    check(in_use() > before);
    drop({&part, 1});
    check(in_use() == before);
}

void test_what_is_borrowed_is_returned_once() {
    const size_t before = in_use();
    std::array<int64_t, 4> memory, tickets;
    Array *whole = borrow(memory.data(), sizeof memory, 9);
    Array *part = part_of(*whole, 8, 8, nullptr);
    drop({&whole, 1});
    check(returned(tickets) == 0);
    drop({&part, 1});
    check(returned(tickets) == 1 && tickets[0] == 9);
    check(returned(tickets) == 0);
    for (int64_t ticket = 1; ticket <= 6; ++ticket) {
        Array *borrowed = borrow(memory.data(), sizeof memory, ticket);
        drop({&borrowed, 1});
    }
    check(returned(tickets) == 4);
    check(returned(tickets) == 2);
    check(in_use() == before);
}

// A new array that is computed on a stream, and is seen through a bundle.
brimstone_arrays *seen(Stream *stream, int64_t bytes) {
    brimstone_arrays *made = new_arrays(1, stream, true);
    make({&bytes, 1}, stream, made->items(), SEEN);
    return made;
}

void test_what_nobody_else_sees_can_be_taken() {
    const size_t before = in_use();
    // Never looked into: only which one it is matters.
    auto *own = reinterpret_cast<Stream *>(8), *other = reinterpret_cast<Stream *>(16);
    for (const int64_t bytes : {int64_t{64}, int64_t{100000}}) {
        brimstone_arrays *arrays = seen(own, bytes);
        const size_t used = in_use();
        Array &array = *arrays->items()[0];
        check(can_be_taken(array, own) && !can_be_taken(array, other));

        brimstone_arrays *again = new_arrays(1, own, true);
        again->put(0, hold(&array, SEEN));
        check(!can_be_taken(array, own));
        hold(again);  // as a task does
        leave(again);
        check(can_be_taken(array, own));
        drop(again);
        check(can_be_taken(array, own));

        for (int i = 0; i < 3; ++i) {
            Array &old = *arrays->items()[0];
            brimstone_arrays *next = new_arrays(1, own, true);
            next->put(0, take_over(old, blocks().take(sizeof(Array)), own, SEEN));
            check(next->items()[0]->address == old.address && !can_be_taken(old, own));
            check(can_be_taken(*next->items()[0], own));
            leave(arrays);
            arrays = next;
        }
        check(in_use() <= used + 2 * sizeof(Array));
        Array *part = part_of(*arrays->items()[0], 8, 8, own);
        check(!can_be_taken(*arrays->items()[0], own));
        drop({&part, 1});
        leave(arrays);
        check(in_use() == before);
    }
}

// Whoever asked before may still read the memory, though the array that was made in it is gone.
void test_what_was_taken_for_nothing_is_what_it_was() {
    const size_t before = in_use();
    auto *own = reinterpret_cast<Stream *>(8);
    for (const int64_t bytes : {int64_t{64}, int64_t{100000}}) {
        brimstone_arrays *first = seen(own, bytes);
        brimstone_arrays *arrays = new_arrays(1, own, true);
        Array &root = *first->items()[0];
        arrays->put(0, take_over(root, blocks().take(sizeof(Array)), own, SEEN));
        leave(first);
        Array &old = *arrays->items()[0];
        for (int i = 0; i < 2; ++i) {
            hold(arrays);  // as a task does
            Array *made = take_over(old, blocks().take(sizeof(Array)), own, SEEN);
            check(made && !can_be_taken(old, own));
            untake(old);
            drop({&made, 1}, SEEN);
            check(in_use() > before && root.holders.load() == 1);
            check(can_be_taken(old, own));
            drop(arrays);
        }
        check(lend(arrays));
        leave(arrays);
        check(in_use() == before);
    }
}

// To two of them, while somebody else holds all (a task does, until it is done), or nobody.
// Of two threads of which one sees an array and the other takes it, one knows of the other.
void test_who_sees_and_who_takes_at_once() {
    const size_t before = in_use();
    auto *own = reinterpret_cast<Stream *>(8);
    for (int i = 0; i < 2000; ++i) {
        brimstone_arrays *arrays = seen(own, 64);
        Array &array = *arrays->items()[0];
        void *block = blocks().take(sizeof(Array));
        std::atomic<int> ready = 0;
        Array *made = nullptr;
        bool was_taken = false;
        std::thread other([&] {
            for (++ready; ready < 2;) {
            }
            was_taken = see(array);
        });
        for (++ready; ready < 2;) {
        }
        if (can_be_taken(array, own)) made = take_over(array, block, own, SEEN);
        other.join();
        check(!made || was_taken);
        if (!made) blocks().give(block, sizeof(Array));
        Array *once = &array;
        drop({&made, 1}, SEEN);
        drop({&once, 1}, SEEN);
        leave(arrays);
    }
    check(in_use() == before);
}

void test_they_are_dealt() {
    const size_t before = in_use();
    auto *stream = reinterpret_cast<Stream *>(8);
    for (const bool are_alone : {true, false}) {
        const std::vector<int64_t> bytes(5, 64), counts = {4, 1};
        brimstone_arrays *arrays = new_arrays(5, stream, true);
        check(make(bytes, stream, arrays->items(), SEEN));
        Array *last = arrays->items()[4];
        if (!are_alone) hold(arrays);
        std::array<brimstone_arrays *, 2> dealt;
        check(deal(arrays, counts, dealt.data()));
        check(dealt[0]->count == 4 && dealt[1]->items()[0] == last);
        check(dealt[1]->addresses()[0] == reinterpret_cast<uint64_t>(last->address));
        check(can_be_taken(*last, stream));
        leave(dealt[0]);
        if (!are_alone) {
            leave(dealt[1]);
            check(last->holders.load() == HELD && in_use() > before);
            drop(arrays);
        } else {
            leave(dealt[1]);
        }
        check(in_use() == before);
    }
}

// To one alone.
void test_all_are_dealt() {
    const size_t before = in_use();
    auto *stream = reinterpret_cast<Stream *>(8);
    for (const bool are_alone : {true, false}) {
        const std::vector<int64_t> bytes(3, 64), counts = {3};
        brimstone_arrays *arrays = new_arrays(3, stream, true), *dealt = nullptr;
        check(make(bytes, stream, arrays->items(), SEEN));
        Array *first = arrays->items()[0];
        if (!are_alone) hold(arrays);
        check(deal(arrays, counts, &dealt));
        check((dealt == arrays) == are_alone);
        check(dealt->count == 3 && dealt->items()[0] == first && can_be_taken(*first, stream));
        leave(dealt);
        if (!are_alone) drop(arrays);
        check(in_use() == before);
    }
}

void test_what_is_borrowed_is_not_taken() {
    int64_t memory = 0;
    Array *whole = borrow(&memory, sizeof memory, 5, SEEN);
    check(!can_be_taken(*whole, nullptr));
    drop({&whole, 1}, SEEN);
    std::array<int64_t, 2> tickets;
    check(returned(tickets) == 1);
}

void test_many_threads() {
    const size_t before = in_use();
    const std::vector<int64_t> bytes(100, 100);
    brimstone_arrays *shared = new_arrays(100);
    check(make(bytes, nullptr, shared->items()));
    in_threads(4, [&] {
        for (int i = 0; i < 2000; ++i) {
            brimstone_arrays *mine = new_arrays(2);
            mine->put(0, hold(shared->items()[static_cast<size_t>(i % 100)]));
            drop(hold(mine));
            drop(mine);
        }
    });
    drop(shared);
    check(in_use() == before);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_many_at_once();
    test_all_or_none();
    test_a_part_holds_the_whole();
    test_what_is_borrowed_is_returned_once();
    test_what_nobody_else_sees_can_be_taken();
    test_what_was_taken_for_nothing_is_what_it_was();
    test_who_sees_and_who_takes_at_once();
    test_they_are_dealt();
    test_all_are_dealt();
    test_what_is_borrowed_is_not_taken();
    test_many_threads();
    return exit_status();
}
