// Memory for arrays: blocks that were given back are kept and handed out again.
//
// Comes in: how many bytes somebody needs. Goes out: a block of at least so many, aligned to a
// cache line. Fresh memory costs several times the work that most kernels do on it.
// Never: contents; a block holds what its last owner left in it.
//
// Each thread takes what was given in its own home first, then what was given elsewhere.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "home.hpp"
#include "room.hpp"

namespace brimstone {

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
        size_t peak_in_use = 0;  // for each other thread at work, some KiB less at the most
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
    // The block must come from `take` with the same bytes; a null pointer is left alone. It is
    // kept, or goes to the system if that had nothing left when it was asked last.
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

    // What the threads of a home gave; and by how many bytes more than they have told they use, now
    // and at the most since they did.
    struct alignas(APART) Home {
        std::mutex mutex;
        std::atomic<size_t> kept = 0;
        std::atomic<int64_t> untold = 0, most_untold = 0;
        int64_t clock = 0;
        std::array<Shelf, 256> shelves;
    };

    class Shelves;

    static void unmap_all(Kept *blocks) noexcept;
    Home &own() noexcept;
    int64_t tick(Home &home) noexcept;
    size_t kept() const noexcept;
    Kept *find(size_t size) noexcept;
    void *fresh(size_t size) noexcept;
    bool is_there(size_t size) noexcept;
    void count_in_use(int64_t more) noexcept;

    Kept *shrink_to(size_t bytes, Kept *lifted) noexcept;
    // The lock of the shelf's home is held while these run; of the last one, those of all homes.
    static Kept *lift(Shelf &shelf) noexcept;
    static void lay(Kept *block, Shelf &shelf) noexcept;
    Kept *lift_longest_unused() noexcept;

    const size_t keep_at_most_;
    const Look look_;
    std::atomic<int64_t> in_use_ = 0, peak_in_use_ = 0, clock_ = 0;  // as far as homes have told
    std::atomic<size_t> taken_from_system_ = 0;
    std::atomic<bool> is_system_out_ = false;
    std::array<Home, HOMES> homes_;
    // So many bytes may be taken from the system before the next look.
    std::mutex mutex_;
    size_t unlooked_ = 0;
};

// The memory of all arrays of this process. It is never destroyed, for a process may end while
// kernels run.
Blocks &blocks() noexcept;

}  // namespace brimstone
