// A pool of threads that share the chunks of a job.
//
// Comes in: a function, and the count of chunks to call it for. Goes out: every chunk has been
// worked on once, by the caller or by a worker, when `run` returns.
// Never: an exception out of a chunk, which ends the process; a worker before there is work for it.
#pragma once

#include <atomic>
#include <cstdint>

#include "home.hpp"

namespace brimstone {

using Chunk = void (*)(void *context, int64_t chunk);

class Crew;

// Any number of threads may call `run` at once, and chunks may call it too.
//
// A child after fork() has none of the workers; its first `run` starts new ones. A child that was
// forked by a chunk must not return from that chunk, for the other chunks' workers are not there.
//
// Nobody may be in `run` when a pool is destroyed. A pool that lives until the process exits is
// best never destroyed: the exit then waits for nothing, whatever its threads are doing.
class Pool {
  public:
    // The caller is one of the threads: a pool of one has no workers.
    explicit Pool(int threads);
    ~Pool();
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    int threads() const noexcept { return threads_; }
    void run(int64_t chunks, Chunk work, void *context) noexcept;

    // Between the two somebody has one job after the other. While as many have as there are
    // threads, each works alone: nobody is free to help, and to call for help takes time.
    void enter() noexcept { callers_.fetch_add(1, std::memory_order_relaxed); }
    void leave() noexcept { callers_.fetch_sub(1, std::memory_order_relaxed); }

  private:
    bool is_free() const noexcept;
    Crew *crew() noexcept;
    Crew *new_crew(Crew *old) noexcept;

    const int threads_;
    alignas(APART) std::atomic<int> callers_ = 0;
    alignas(APART) std::atomic<Crew *> crew_ = nullptr;
};

// What somebody does who has one job after the other.
class Turn {
  public:
    explicit Turn(Pool &pool) noexcept : pool_(pool) { pool_.enter(); }
    ~Turn() { pool_.leave(); }
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;

  private:
    Pool &pool_;
};

}  // namespace brimstone
