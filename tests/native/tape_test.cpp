// Tapes: the same arithmetic for other numbers, as long as all holds that was seen.
#include "tape.hpp"

#include <limits>
#include <vector>

#include "check.hpp"
#include "pack.hpp"

namespace brimstone {
namespace {

constexpr int64_t LARGEST = std::numeric_limits<int64_t>::max();
constexpr int64_t LEAST = std::numeric_limits<int64_t>::min();

struct Tape {
    std::vector<brimstone_line> lines;
    std::vector<int64_t> words;
    std::vector<Interval> intervals = {};
    std::vector<int64_t> pointers = {};

    // Whether all holds; the words, if so.
    bool holds(std::vector<int64_t> given, std::vector<int64_t> &found) const {
        found.assign(words.size(), -1);
        const auto count = [](const auto &list) { return static_cast<int64_t>(list.size()); };
        const brimstone_tape tape = {lines.data(),    intervals.data(), words.data(),
                                     pointers.data(), count(lines),     count(words),
                                     count(pointers)};
        return replay(tape, given.data(), found.data());
    }
};

// What one sign makes of two numbers.
struct Made {
    bool holds;
    int64_t number;
};

Made made(int64_t sign, int64_t left, int64_t right) {
    const Tape tape = {{{BRIMSTONE_GIVEN, 1, 0}, {BRIMSTONE_GIVEN, 0, 0}, {sign, 1, 0}}, {2}};
    std::vector<int64_t> found;
    const bool holds = tape.holds({left, right}, found);
    return {holds, found[0]};
}

void makes(int64_t sign, int64_t left, int64_t right, int64_t number) {
    const Made found = made(sign, left, right);
    check(found.holds && found.number == number);
}

void test_arithmetic() {
    makes(BRIMSTONE_ADD, 5, -7, -2);
    makes(BRIMSTONE_SUBTRACT, 5, -7, 12);
    makes(BRIMSTONE_MULTIPLY, 5, -7, -35);
    makes(BRIMSTONE_DIVIDE, 7, 2, 3);
    makes(BRIMSTONE_DIVIDE, -7, 2, -4);
    makes(BRIMSTONE_DIVIDE, -8, 2, -4);
    makes(BRIMSTONE_DIVIDE, LEAST, 1, LEAST);
    makes(BRIMSTONE_LEAST, 7, -2, -2);
    makes(BRIMSTONE_GREATEST, 7, -2, 7);
    makes(BRIMSTONE_ADD, LARGEST - 1, 1, LARGEST);
}

void test_no_number_is_wrong() {
    check(!made(BRIMSTONE_ADD, LARGEST, 1).holds);
    check(!made(BRIMSTONE_SUBTRACT, LEAST, 1).holds);
    check(!made(BRIMSTONE_MULTIPLY, LARGEST, 2).holds);
    check(!made(BRIMSTONE_DIVIDE, 1, 0).holds);
    check(!made(BRIMSTONE_DIVIDE, LEAST, -1).holds);
}

void test_what_must_hold() {
    for (const int64_t left : {LEAST, int64_t{-1}, int64_t{0}, int64_t{3}, LARGEST})
        for (const int64_t right : {LEAST, int64_t{-1}, int64_t{0}, int64_t{3}, LARGEST}) {
            check(made(BRIMSTONE_LESS, left, right).holds == (left < right));
            check(made(BRIMSTONE_AT_MOST, left, right).holds == (left <= right));
            check(made(BRIMSTONE_EQUAL, left, right).holds == (left == right));
            check(made(BRIMSTONE_DIFFER, left, right).holds == (left != right));
        }
}

void test_words_come_in_any_order() {
    const Tape tape = {{{BRIMSTONE_CONSTANT, 7, 0}, {BRIMSTONE_GIVEN, 0, 0}, {BRIMSTONE_ADD, 0, 1}},
                       {2, 0, 2, 1}};
    std::vector<int64_t> found;
    check(tape.holds({3}, found));
    check(found == std::vector<int64_t>{10, 7, 10, 3});
}

void test_pointers_lead_to_words() {
    const Tape tape = {
        {{BRIMSTONE_CONSTANT, 2, 0}, {BRIMSTONE_CONSTANT, 1, 0}}, {1, 0, 0}, {}, {1}};
    std::vector<int64_t> found;
    check(tape.holds({}, found));
    check(found[0] == 1 && found[2] == 2);
    check(reinterpret_cast<int64_t *>(found[1]) == found.data() + 2);
}

// Two arrays that are alive one after the other, and one beside both.
Tape packing() {
    return {{{BRIMSTONE_GIVEN, 0, 0},
             {BRIMSTONE_GIVEN, 1, 0},
             {BRIMSTONE_PACK, 0, 3},
             {BRIMSTONE_CONSTANT, -1, 0},
             {BRIMSTONE_CONSTANT, -1, 0},
             {BRIMSTONE_CONSTANT, -1, 0}},
            {2, 3, 4, 5},
            {{0, 1, 0, 0}, {2, 3, 1, 0}, {0, 3, 1, 0}}};
}

void test_arrays_are_packed() {
    for (const int64_t large : {64, 640, 6400}) {
        std::vector<int64_t> found;
        check(packing().holds({large, 128}, found));
        std::vector<Interval> intervals = {{0, 1, large, 0}, {2, 3, 128, 0}, {0, 3, 128, 0}};
        check(found[0] == pack(intervals));
        for (size_t i = 0; i < intervals.size(); ++i) check(found[i + 1] == intervals[i].offset);
    }
}

void test_what_cannot_be_packed() {
    std::vector<int64_t> found;
    check(!packing().holds({LARGEST, LARGEST}, found));
}

}  // namespace
}  // namespace brimstone

int main() {
    brimstone::test_arithmetic();
    brimstone::test_no_number_is_wrong();
    brimstone::test_what_must_hold();
    brimstone::test_words_come_in_any_order();
    brimstone::test_pointers_lead_to_words();
    brimstone::test_arrays_are_packed();
    brimstone::test_what_cannot_be_packed();
    return brimstone::exit_status();
}
