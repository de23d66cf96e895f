#include "pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <new>

#include "crew.hpp"

namespace brimstone {
namespace {

// How many forks lie between this process and the first one.
std::atomic<unsigned> forks = 0;

void count_forks() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
    static_cast<void>(registered);
}

}  // namespace

Pool::Pool(int threads) : threads_(std::max(1, threads)) { count_forks(); }

Pool::~Pool() {
    Crew *crew = crew_.load();
    if (crew && crew->forks() == forks) delete crew;
}

void Pool::run(int64_t chunks, Chunk work, void *context) noexcept {
    if (chunks > 1 && is_free()) {
        Crew *crew = this->crew();
        if (crew && callers_.load(std::memory_order_relaxed) <= 1) crew->make_way();
        if (crew && crew->run(chunks, work, context)) return;
    }
    for (int64_t chunk = 0; chunk < chunks; ++chunk) work(context, chunk);
}

// Whether somebody may help whoever asks now, who may be the only one that has entered.
bool Pool::is_free() const noexcept {
    return callers_.load(std::memory_order_relaxed) < threads_ && threads_ > 1;
}

Crew *Pool::crew() noexcept {
    Crew *crew = crew_.load(std::memory_order_acquire);
    const bool ours = crew && crew->forks() == forks.load(std::memory_order_relaxed);
    return ours ? crew : new_crew(crew);
}

// An old crew is the parent process's. Its locks and counters stand as its threads had them at the
// fork, and nothing may be made of them: it is left behind.
Crew *Pool::new_crew(Crew *old) noexcept {
    std::unique_ptr<Crew> fresh(new (std::nothrow) Crew(forks));
    if (!fresh) return nullptr;
    if (!crew_.compare_exchange_strong(old, fresh.get())) return old;  // another thread's new one
    fresh->start(threads_ - 1);
    return fresh.release();
}

}  // namespace brimstone
