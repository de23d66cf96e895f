// Workers make way for their caller: they run on other processors than it does, until it waits.
//
// Comes in: the threads of workers, and the processor of who calls them. Goes out: threads that may
// run wherever they might before, but there; or nowhere else, for a while.
// Never: a thread that waits here; a processor that the workers were not allowed at first.
//
// Linux likes to wake a thread on the processor that it is woken from, and moves who stands in line
// only now and then. So a worker may stand behind its caller for a twentieth of a second, or again
// and again, while the next processor idles and the caller does all the work alone.
#pragma once

#include <pthread.h>

#include <atomic>
#include <thread>
#include <vector>

namespace brimstone {

class Way {
  public:
    // By the caller; nothing happens unless it runs on another processor than the last one did, and
    // nothing if it is one of the workers.
    void make(std::vector<std::thread> &workers) noexcept;
    // By a caller that will sleep until this one is done; whether the worker comes, which it does
    // if it has made way. Until it is sent back no other one makes way, or is fetched.
    bool fetch(std::thread &worker) noexcept;
    void send_back() noexcept;

  private:
    std::atomic<int> avoided_ = -1;
    std::atomic_flag taken_;  // by who changes where they run; who finds it set goes on
#if defined(__linux__)
    cpu_set_t allowed_{}, given_{};
    pthread_t fetched_{};
    cpu_set_t before_{};  // where that one might run
#endif
};

}  // namespace brimstone
