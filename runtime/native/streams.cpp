#include "streams.hpp"

#include <pthread.h>

#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "launch.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "record.hpp"
#include "stream.hpp"

namespace brimstone {
namespace {

// All streams, the last one first, and those that are closed. They are never destroyed.
std::mutex &streams_guard = *new std::mutex;
Stream *all = nullptr;
Stream *closed = nullptr;

// A task may wait for one of another stream: none is kept locked while another one is waited for.
void lock_all() {
    streams_guard.lock();
    for (bool idle = false; !idle;) {
        for (Stream *stream = all; stream; stream = stream->next) stream->settle();
        idle = true;
        for (Stream *stream = all; stream; stream = stream->next) idle &= stream->lock();
        if (idle) break;
        for (Stream *stream = all; stream; stream = stream->next) stream->unlock(false);
        std::this_thread::yield();
    }
    lock_tasks();
    lock_events();
}

void unlock_all(bool in_child) {
    unlock_events();
    unlock_tasks();
    for (Stream *stream = all; stream; stream = stream->next) stream->unlock(in_child);
    streams_guard.unlock();
}

// Handlers that are registered first run last before a fork, and first after it.
void watch_forks() {
    static const int registered = [] {
        blocks();
        return pthread_atfork(lock_all, [] { unlock_all(false); }, [] { unlock_all(true); });
    }();
    static_cast<void>(registered);
}

}  // namespace

Stream *open_stream(Pool &pool) noexcept {
    watch_forks();
    const std::lock_guard lock(streams_guard);
    for (Stream **place = &closed; *place; place = &(*place)->next_closed) {
        if (&(*place)->pool() != &pool || !(*place)->reopen()) continue;
        settle_down((*place)->number());
        return std::exchange(*place, (*place)->next_closed);
    }
    auto *made = new (std::nothrow) Stream(pool, all ? all->number() + 1 : 0);
    if (!made) return nullptr;
    settle_down(made->number());
    made->next = all;
    all = made;
    return made;
}

void close_stream(Stream *stream) noexcept {
    const std::lock_guard lock(streams_guard);
    stream->close();
    stream->next_closed = closed;
    closed = stream;
}

void end_streams() noexcept {
    stop();
    const std::lock_guard lock(streams_guard);
    for (Stream *stream = all; stream; stream = stream->next) stream->end();
    go_on();
}

}  // namespace brimstone
