// Memory for arrays: blocks that were given back are kept and handed out again.
//
// Comes in: how many bytes somebody needs. Goes out: a block of at least so many, aligned to a
// cache line. Fresh memory costs several times the work that most kernels do on it.
// Never: contents; a block holds what its last owner left in it.
//
// A block that another core has written must come from that one's caches. So threads have homes,
// and each takes what was given at its own one first, then what was given elsewhere.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "room.hpp"

namespace brimstone {

// Threads of one number have one home; it is the first one's until they say so.
void settle_down(size_t number) noexcept;

// So many bytes somewhere; a null pointer where they are still to be found.
struct Block {
    void *start;
    size_t bytes;
};

// What is new to the process is asked of the system, which says yes to more than there is, and ends
// a process that writes to it: so it is looked, now and then, for how much there is.
//
// Any thread may call anything at any time. All blocks must have been given back when the owner of
// them ends.
class Blocks {
  public:
    struct Statistics {
        size_t in_use = 0;  // bytes, as are the next two
        size_t kept = 0;
        size_t peak_in_use = 0;
        size_t taken_from_system = 0;  // how many times
    };

    using Look = Room (*)() noexcept;

    explicit Blocks(size_t keep_at_most, Look look = look_at_system) noexcept
        : keep_at_most_(keep_at_most), look_(look) {}
    ~Blocks() { trim(); }
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;

    // No bytes are a block too. The answer is a null pointer when the system has no memory left.
    void *take(size_t bytes) noexcept;
    // All of them at once, or none: then the answer is false.
    bool take(std::span<Block> blocks) noexcept;
    // The block must come from `take` with the same bytes; a null pointer is left alone.
    void give(void *block, size_t bytes) noexcept;
    void give(std::span<const Block> blocks) noexcept;
    // Lets go of all that is kept.
    void trim() noexcept;

    Statistics statistics() const noexcept;
    size_t keep_at_most() const noexcept { return keep_at_most_; }

    // Nobody takes or gives between the two, as it must be when a process forks.
    void lock() noexcept;
    void unlock() noexcept;

  private:
    static constexpr size_t HOMES = 8;

    // What is written into a block while nobody uses it.
    struct Kept {
        Kept *below;
        size_t size;
    };

    // The kept blocks of one size, the one that was given last on top.
    struct Shelf {
        Kept *top = nullptr;
        int64_t last_use = 0;
    };

    // What the threads of a home gave.
    struct alignas(64) Home {
        std::mutex mutex;
        std::array<Shelf, 256> shelves;
    };

    class Shelves;

    static void unmap_all(Kept *blocks) noexcept;
    Home &own_home() noexcept;
    int64_t tick() noexcept;
    Kept *find(size_t size) noexcept;
    void *fresh(size_t size) noexcept;
    bool is_there(size_t size) noexcept;
    void count_in_use(size_t size) noexcept;

    Kept *shrink_to(size_t bytes, Kept *lifted) noexcept;
    // The lock of the shelf's home is held while these run; of the last one, those of all homes.
    static Kept *lift(Shelf &shelf) noexcept;
    static void lay(Kept *block, Shelf &shelf) noexcept;
    Shelf &longest_unused() noexcept;

    const size_t keep_at_most_;
    const Look look_;
    std::atomic<size_t> in_use_ = 0, kept_ = 0, peak_in_use_ = 0, taken_from_system_ = 0;
    std::atomic<int64_t> uses_ = 0;
    std::array<Home, HOMES> homes_;
    // So many bytes may be taken from the system before the next look.
    std::mutex mutex_;
    size_t unlooked_ = 0;
};

// The memory of all arrays of this process. It is never destroyed, for a process may end while
// kernels run.
Blocks &blocks() noexcept;

}  // namespace brimstone
