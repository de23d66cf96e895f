// The workers of a pool, and the jobs they help with.
//
// Comes in: jobs, each from the thread that calls `run`. Goes out: finished jobs.
// Never: a lock or an allocation in `run`; a worker at a job whose caller has gone on.
//
// A caller takes chunks of its own job until none is left, then waits for the helpers that still
// work on theirs. While it waits it does not help with other jobs: a chunk of theirs could take
// long after its own job is done. So threads only ever wait for chunks that are being worked on,
// and a chunk waits only for jobs that it has itself started: nobody can wait in a circle.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "patience.hpp"
#include "pool.hpp"
#include "sleep.hpp"
#include "way.hpp"

namespace brimstone {

// The place of one job after the other. It outlives them all, so that a helper who comes late finds
// either no chunk or one of the next job, and both are right.
//
// A helper first counts itself in and then takes a chunk; the caller first finds that no chunk is
// left and then that no helper is. So a helper who got a chunk is never missed.
//
// The caller takes chunks from the first on, helpers from the last on: what a thread has made it is
// likely to read in the next job, too, out of its own caches.
class alignas(128) Job {
  public:
    void open(int64_t chunks, Chunk work, void *context) noexcept;
    void take_chunks() noexcept;
    bool help() noexcept;  // whether there was a chunk
    // Awake for so many nanoseconds, then asleep; whether none is left after so many more.
    bool wait_for_helpers(int64_t spin, int64_t time = INT64_MAX) noexcept;

  private:
    // In the upper half how many chunks are left, below zero when threads looked for more; in the
    // lower one how many were taken from the last on.
    std::atomic<int64_t> left_ = 0;
    Counter helpers_ = 0;
    int64_t chunks_ = 0;
    Chunk work_ = nullptr;
    void *context_ = nullptr;
};

class Crew {
  public:
    explicit Crew(unsigned forks) noexcept;
    ~Crew();
    Crew(const Crew &) = delete;
    Crew &operator=(const Crew &) = delete;

    unsigned forks() const noexcept { return forks_; }  // how many before its process
    void start(int workers) noexcept;
    // By somebody who is the only one that has a turn.
    void make_way() noexcept;
    // Whether it was done: with as many jobs under way as there are places for, nothing happens.
    bool run(int64_t chunks, Chunk work, void *context) noexcept;

  private:
    struct alignas(64) Post {
        std::atomic<const Job *> job = nullptr;  // which one a worker helps with, or looks at
    };

    int claim() noexcept;
    void call(int64_t wanted) noexcept;
    void live(int number) noexcept;
    bool help(Post &post) noexcept;
    void fetch_last_helper(Job &job) noexcept;
    void wait_for_call(uint32_t seen) noexcept;

    const unsigned forks_;
    std::array<Job, 64> jobs_;
    alignas(128) std::atomic<uint64_t> claimed_ = 0;  // a bit for each job
    alignas(128) Counter calls_ = 0;                   // workers wait for the next
    std::atomic<int> sleepers_ = 0;
    std::atomic<int64_t> called_ = 0;  // when some of them were, last
    Patience patience_;
    std::atomic<bool> ended_ = false;
    std::vector<std::thread> workers_;
    std::vector<Post> posts_;  // of each worker its own
    std::atomic<bool> started_ = false;  // all of them that there will be
    Way way_;
};

}  // namespace brimstone
