// Jobs that find out whether a pool does what it should.
//
// Comes in: a pool. Goes out: whether it did.
// Never: an end that waits for a worker who is not there.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "pool.hpp"

namespace brimstone {

template <typename Function>
void run(Pool &pool, int64_t chunks, Function &function) {
    const Chunk call = [](void *context, int64_t chunk) {
        (*static_cast<Function *>(context))(chunk);
    };
    pool.run(chunks, call, &function);
}

// The counts are plain numbers on the heap that die at once: a chunk that runs twice or late is a
// race or a use after free, which the sanitizers see.
inline bool runs_once(Pool &pool, int64_t chunks) {
    const auto counts = std::make_unique<int[]>(static_cast<size_t>(chunks));
    auto count = [&](int64_t chunk) { ++counts[static_cast<size_t>(chunk)]; };
    run(pool, chunks, count);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
        if (counts[static_cast<size_t>(chunk)] != 1) return false;
    return true;
}

// Waits for two to have come, but not for ever; whether they have.
inline bool both(std::atomic<int> &come) {
    ++come;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (come < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(1));
    return come >= 2;
}

// Whether two chunks run at the same time: each waits for the other one to begin.
inline bool is_shared(Pool &pool) {
    std::atomic<int> begun = 0;
    std::atomic<bool> met = true;
    auto meet = [&](int64_t) {
        if (!both(begun)) met = false;
    };
    run(pool, 2, meet);
    return met;
}

void in_threads(int count, auto function) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(function);
    for (auto &thread : threads) thread.join();
}

}  // namespace brimstone
