// Blocks: aligned, never shared, handed out again, counted.
#include "memory.hpp"

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"

namespace brimstone {
namespace {

constexpr size_t KIB = size_t{1} << 10, MIB = size_t{1} << 20;

bool is_aligned(const void *block, size_t alignment) {
    return reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

void test_sizes_and_alignment() {
    Blocks blocks(64 * MIB);
    for (size_t bytes = 0; bytes < 9 * MIB; bytes += 1 + bytes / 7) {
        void *block = blocks.take(bytes);
        check(block && is_aligned(block, bytes >= 2 * MIB ? 16 * KIB : 64));
        std::memset(block, 1, bytes);
        const size_t in_use = blocks.statistics().in_use;
        check(in_use >= 64 && in_use >= bytes && in_use % 64 == 0);
        check(bytes < 256 ? in_use < bytes + 65 : in_use <= bytes + bytes / 4);
        blocks.give(block, bytes);
        check(blocks.statistics().in_use == 0);
    }
}

// Those of a computation would fall into the same sets of a cache if they began at the same place.
void test_large_blocks_begin_at_places_of_their_own() {
    Blocks blocks(64 * MIB);
    constexpr size_t COUNT = 8, BYTES = 3 * MIB;
    std::set<uintptr_t> places;
    std::vector<void *> taken;
    for (size_t i = 0; i < COUNT; ++i) {
        taken.push_back(blocks.take(BYTES));
        const uintptr_t place = reinterpret_cast<uintptr_t>(taken.back()) % (2 * MIB);
        check(place < 128 * KIB && place % (16 * KIB) == 0);
        places.insert(place);
    }
    check(places.size() == COUNT);
    for (void *block : taken) std::memset(block, 1, BYTES);
    for (void *block : taken) blocks.give(block, BYTES);
    blocks.trim();
    check(blocks.statistics().kept == 0);
}

void test_blocks_are_handed_out_again() {
    Blocks blocks(64 * MIB);
    for (const size_t bytes : {size_t{0}, size_t{100}, size_t{5000}, 3 * MIB}) {
        void *first = blocks.take(bytes);
        void *second = blocks.take(bytes);
        check(first != second);
        blocks.give(first, bytes);
        blocks.give(second, bytes);
        check(blocks.take(bytes) == second);
        check(blocks.take(bytes) == first);
        blocks.give(first, bytes);
        blocks.give(second, bytes);
    }
    check(blocks.statistics().taken_from_system == 8);
}

void test_blocks_stay_at_home() {
    Blocks blocks(64 * MIB);
    settle_down(1);
    void *first = blocks.take(5000), *second = blocks.take(5000), *third = blocks.take(5000);
    blocks.give(first, 5000);
    settle_down(2);
    blocks.give(second, 5000);
    blocks.give(third, 5000);
    settle_down(1);
    Block some[] = {{nullptr, 5000}, {nullptr, 5000}};
    check(blocks.take(some));
    check(some[0].start == first && some[1].start == third);
    settle_down(3);
    check(blocks.take(5000) == second);
    check(blocks.statistics().taken_from_system == 3);
    blocks.give(some);
    blocks.give(second, 5000);
    check(blocks.statistics().kept == 3 * 5120);
    settle_down(0);
    blocks.trim();
    check(blocks.statistics().kept == 0);
}

void test_statistics() {
    Blocks blocks(MIB);
    void *small = blocks.take(1000);
    void *large = blocks.take(5000);
    check(blocks.statistics().in_use == 1024 + 5120);
    blocks.give(large, 5000);
    check(blocks.statistics().in_use == 1024);
    check(blocks.statistics().kept == 5120);
    check(blocks.statistics().peak_in_use == 1024 + 5120);
    check(blocks.statistics().taken_from_system == 2);
    blocks.trim();
    check(blocks.statistics().kept == 0);
    blocks.give(blocks.take(5000), 5000);
    check(blocks.statistics().taken_from_system == 3);
    blocks.give(small, 1000);
    check(blocks.statistics().in_use == 0);
}

// What each has not told the others yet is counted, too; only a peak may be told too low.
void test_homes_count_together() {
    Blocks blocks(64 * MIB);
    settle_down(1);
    void *first = blocks.take(1000);
    settle_down(2);
    blocks.give(first, 1000);
    void *second = blocks.take(2000);
    check(blocks.statistics().in_use == 2048);
    settle_down(1);
    void *large = blocks.take(MIB);
    check(blocks.statistics().in_use == MIB + 2048);
    check(blocks.statistics().peak_in_use >= MIB + 2048);
    blocks.give(large, MIB);
    blocks.give(second, 2000);
    check(blocks.statistics().in_use == 0);
    check(blocks.statistics().kept == MIB + 1024 + 2048);
    settle_down(0);
}

void test_homes_keep_so_much_together() {
    Blocks blocks(MIB);
    for (size_t home = 0; home < 2 * HOMES; ++home) {
        settle_down(home);
        std::vector<void *> taken;
        for (int i = 0; i < 10; ++i) taken.push_back(blocks.take(MIB / 16));
        for (void *each : taken) blocks.give(each, MIB / 16);
        check(blocks.statistics().kept <= MIB);
    }
    settle_down(0);
}

void test_only_so_much_is_kept() {
    Blocks blocks(3 * 4096);
    void *old = blocks.take(4096), *newer = blocks.take(2048), *newest = blocks.take(8192);
    blocks.give(old, 4096);
    blocks.give(newer, 2048);
    check(blocks.statistics().kept == 4096 + 2048);
    blocks.give(newest, 8192);
    check(blocks.statistics().kept == 2048 + 8192);
    check(blocks.take(8192) == newest);
    check(blocks.take(2048) == newer);
    blocks.give(newest, 8192);
    blocks.give(newer, 2048);
    blocks.give(blocks.take(4 * MIB), 4 * MIB);
    check(blocks.statistics().kept == 2048 + 8192);
}

void test_no_memory_left() {
    Blocks blocks(MIB);
    blocks.give(blocks.take(4096), 4096);
    check(!blocks.take(SIZE_MAX));
    check(!blocks.take(size_t{1} << 50));
    check(blocks.statistics().in_use == 0);
    check(blocks.statistics().kept == 0);
    blocks.give(nullptr, 100);
    check(blocks.statistics().in_use == 0);
}

// Each thread signs its blocks, and finds its signature before it gives them back.
void hammer(Blocks &blocks, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<unsigned char *, size_t>> mine;
    const auto signature = static_cast<unsigned char>(seed);
    for (int i = 0; i < 20'000; ++i) {
        if (mine.size() < 20 && random() % 2) {
            const size_t bytes = 1 + (random() % 1000) * (i % 50 ? 10 : 3000);
            auto *block = static_cast<unsigned char *>(blocks.take(bytes));
            block[0] = block[bytes - 1] = signature;
            mine.emplace_back(block, bytes);
        } else if (!mine.empty()) {
            std::swap(mine.back(), mine[random() % mine.size()]);
            const auto [block, bytes] = mine.back();
            check(block[0] == signature && block[bytes - 1] == signature);
            blocks.give(block, bytes);
            mine.pop_back();
        }
        if (i % 1000 == 0) blocks.trim();
    }
    for (const auto &[block, bytes] : mine) blocks.give(block, bytes);
}

void test_many_threads() {
    Blocks blocks(4 * MIB);
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed)
        threads.emplace_back([&blocks, seed] { hammer(blocks, seed); });
    for (auto &thread : threads) thread.join();
    check(blocks.statistics().in_use == 0);
    check(blocks.statistics().kept <= 4 * MIB);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_sizes_and_alignment();
    test_large_blocks_begin_at_places_of_their_own();
    test_blocks_are_handed_out_again();
    test_blocks_stay_at_home();
    test_statistics();
    test_homes_count_together();
    test_homes_keep_so_much_together();
    test_only_so_much_is_kept();
    test_no_memory_left();
    test_many_threads();
    return exit_status();
}
