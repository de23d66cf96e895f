// Packing: nothing overlaps, and little room is lost.
#include "pack.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"

namespace brimstone {
namespace {

using Intervals = std::vector<Interval>;

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    int64_t between(int64_t least, int64_t most) {
        return std::uniform_int_distribution<int64_t>(least, most)(engine_);
    }
    int64_t bytes() { return between(1, 100'000); }

  private:
    std::mt19937_64 engine_;
};

bool meet(const Interval &one, const Interval &other) {
    const bool in_time = one.begin <= other.end && other.begin <= one.end;
    const bool in_memory = one.offset < other.offset + other.bytes &&
                           other.offset < one.offset + one.bytes;
    return in_time && in_memory && one.bytes > 0 && other.bytes > 0;
}

// The total, after a look at every pair.
int64_t packed(Intervals &intervals) {
    const int64_t total = pack(intervals);
    int64_t top = 0;
    for (size_t i = 0; i < intervals.size(); ++i) {
        const Interval &one = intervals[i];
        check(one.offset >= 0 && one.offset % 64 == 0);
        check(one.bytes > 0 || one.offset == 0);
        top = std::max(top, one.offset + one.bytes);
        for (size_t j = 0; j < i; ++j) check(!meet(one, intervals[j]));
    }
    check(top <= total && total < top + 64);
    check(total >= peak(intervals));
    return total;
}

// Half are values of the forward pass, alive until the backward pass reaches them; half die soon.
Intervals training_step(Random &random, int64_t positions, int count) {
    Intervals intervals;
    for (int i = 0; i < count; ++i) {
        const int64_t begin = random.between(0, positions - 1);
        const bool short_lived = i % 2 || begin >= positions / 2;
        const int64_t until = short_lived ? begin + random.between(0, 4) : positions - 1 - begin;
        intervals.push_back({begin, until, random.bytes(), -1});
    }
    return intervals;
}

Intervals anything(Random &random, int count) {
    Intervals intervals;
    for (int i = 0; i < count; ++i) {
        const int64_t one = random.between(-50, 50), other = random.between(-50, 50);
        const int64_t bytes = random.between(0, 9) ? random.bytes() : 0;
        intervals.push_back({std::min(one, other), std::max(one, other), bytes, -1});
    }
    intervals.push_back({0, 0, 1, -1});
    return intervals;
}

void test_few() {
    Intervals none;
    check(packed(none) == 0);
    Intervals empty = {{0, 5, 0, -1}};
    check(packed(empty) == 0);
    Intervals one = {{7, 7, 1, -1}};
    check(packed(one) == 64);
    Intervals neighbours = {{0, 1, 100, -1}, {2, 3, 100, -1}};
    check(packed(neighbours) == 128);
    Intervals at_once = {{0, 2, 100, -1}, {2, 3, 100, -1}};
    check(packed(at_once) == 256);
    Intervals nested = {{1, 2, 64, -1}, {0, 3, 64, -1}, {4, 4, 128, -1}, {3, 4, 0, -1}};
    check(packed(nested) == 128);
}

void test_peak() {
    const Intervals intervals = {{0, 2, 64, 0}, {2, 3, 65, 0}, {3, 3, 1, 0}, {4, 9, 10, 0}};
    check(peak(intervals) == 192);
}

double times_the_peak(Intervals intervals) {
    return static_cast<double>(packed(intervals)) / static_cast<double>(peak(intervals));
}

void test_anything() {
    Random random(1);
    double sum = 0;
    for (int count = 1; count <= 200; ++count) sum += times_the_peak(anything(random, count));
    check(sum / 200 < 1.02);
}

void test_training_steps_lose_little() {
    Random random(2);
    double sum = 0, worst = 0;
    for (int count = 1; count <= 200; ++count) {
        const double ratio = times_the_peak(training_step(random, 2 * count, count));
        sum += ratio;
        worst = std::max(worst, ratio);
    }
    check(sum / 200 < 1.001);
    check(worst < 1.04);
}

void test_same_again() {
    Random random(3);
    Intervals first = anything(random, 200);
    Intervals second = first;
    pack(first);
    pack(second);
    for (size_t i = 0; i < first.size(); ++i) check(first[i].offset == second[i].offset);
}

void test_more_than_can_be_counted() {
    const int64_t most = std::numeric_limits<int64_t>::max();
    Intervals one = {{0, 5, most, 0}, {1, 6, 64, 0}};
    check(pack(one) == -1);
    Intervals several(4, {0, 1, int64_t{1} << 62, 0});
    check(pack(several) == -1);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_few();
    test_peak();
    test_anything();
    test_training_steps_lose_little();
    test_same_again();
    test_more_than_can_be_counted();
    return exit_status();
}
