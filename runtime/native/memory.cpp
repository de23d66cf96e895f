#include "memory.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace brimstone {
namespace {

constexpr size_t ALIGNMENT = 64;
constexpr size_t HUGE_PAGE = size_t{2} << 20;
constexpr size_t LARGEST = SIZE_MAX / 4;
// One part in so many of what is left is taken without another look.
constexpr size_t SHARE_UNLOOKED = 8;

// The next size of which there are blocks: four for each power of two.
size_t rounded(size_t bytes) {
    const size_t least = std::max(bytes, size_t{1});
    const size_t step = std::max(std::bit_floor(least - 1) / 4, ALIGNMENT);
    return (least + step - 1) / step * step;
}

// Which shelf blocks of a rounded size lie on: a size is five to eight eighths of a power of two.
size_t shelf_of(size_t size) {
    const auto power = static_cast<size_t>(std::bit_width(size - 1));
    return power * 4 + (size >> (power - 3)) - 5;
}

// Memory of whole huge pages, which the kernel then fills in 512 times fewer steps. It is mapped
// with room to spare, and what lies around the aligned part is unmapped again.
void *map(size_t size) noexcept {
    void *mapped = mmap(nullptr, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char *start = static_cast<char *>(mapped);
    const size_t before = -reinterpret_cast<uintptr_t>(start) % HUGE_PAGE;
    const size_t after = HUGE_PAGE - before;
    if (before > 0) munmap(start, before);
    munmap(start + before + size, after);
#ifdef MADV_HUGEPAGE
    madvise(start + before, size, MADV_HUGEPAGE);
#endif
    return start + before;
}

void *from_system(size_t size) noexcept {
    if (size >= HUGE_PAGE) return map(size);
    void *block = nullptr;
    return posix_memalign(&block, ALIGNMENT, size) == 0 ? block : nullptr;
}

void to_system(void *block, size_t size) noexcept {
    if (size >= HUGE_PAGE)
        munmap(block, size);
    else
        std::free(block);
}

}  // namespace

void *Blocks::take(size_t bytes) noexcept {
    if (bytes > LARGEST) return nullptr;
    const size_t size = rounded(bytes);
    {
        const std::lock_guard lock(mutex_);
        if (Kept *block = lift(shelf_for(size))) {
            count_in_use(size);
            return block;
        }
    }
    // The system may take long, so the lock is not held.
    void *block = fresh(size);
    if (!block) {
        trim();
        block = fresh(size);
    }
    if (!block) return nullptr;
    const std::lock_guard lock(mutex_);
    ++statistics_.taken_from_system;
    count_in_use(size);
    return block;
}

bool Blocks::take(std::span<Block> blocks) noexcept {
    {
        const std::lock_guard lock(mutex_);
        for (Block &block : blocks) {
            block.start = nullptr;
            if (block.bytes > LARGEST) continue;
            const size_t size = rounded(block.bytes);
            block.start = lift(shelf_for(size));
            if (block.start) count_in_use(size);
        }
    }
    for (Block &block : blocks) {
        if (!block.start) block.start = take(block.bytes);
        if (!block.start) return give(blocks), false;
    }
    return true;
}

void Blocks::give(void *block, size_t bytes) noexcept {
    const Block given = {block, bytes};
    give({&given, 1});
}

void Blocks::give(std::span<const Block> blocks) noexcept {
    Kept *unwanted = nullptr;
    {
        const std::lock_guard lock(mutex_);
        for (const Block &block : blocks) {
            if (!block.start) continue;
            const size_t size = rounded(block.bytes);
            Kept *kept = new (block.start) Kept{nullptr, size};
            statistics_.in_use -= size;
            if (size <= keep_at_most_)
                lay(kept, shelf_for(size));
            else
                unwanted = new (kept) Kept{unwanted, size};
        }
        unwanted = shrink_to(keep_at_most_, unwanted);
    }
    let_go(unwanted);
}

void Blocks::trim() noexcept {
    std::unique_lock lock(mutex_);
    Kept *unwanted = shrink_to(0, nullptr);
    lock.unlock();
    let_go(unwanted);
}

Blocks::Statistics Blocks::statistics() const noexcept {
    const std::lock_guard lock(mutex_);
    return statistics_;
}

void *Blocks::fresh(size_t size) noexcept {
    return is_there(size) ? from_system(size) : nullptr;
}

// Whether the system has so much, as far as it says. A look takes a tenth of a millisecond, and is
// good for a part of what it found, which takes longer to fill.
bool Blocks::is_there(size_t size) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (size <= unlooked_) {
            unlooked_ -= size;
            return true;
        }
    }
    const auto most = static_cast<size_t>(look_().most());
    const std::lock_guard lock(mutex_);
    if (size > most) return false;
    unlooked_ = (most - size) / SHARE_UNLOOKED;
    return true;
}

// The shelf that somebody uses just now.
Blocks::Shelf &Blocks::shelf_for(size_t size) noexcept {
    Shelf &shelf = shelves_[shelf_of(size)];
    shelf.last_use = ++uses_;
    return shelf;
}

void Blocks::count_in_use(size_t size) noexcept {
    statistics_.in_use += size;
    statistics_.peak_in_use = std::max(statistics_.peak_in_use, statistics_.in_use);
}

// The top block of a shelf, or a null pointer when the shelf is empty.
Blocks::Kept *Blocks::lift(Shelf &shelf) noexcept {
    Kept *block = shelf.top;
    if (!block) return nullptr;
    shelf.top = block->below;
    statistics_.kept -= block->size;
    return block;
}

void Blocks::lay(Kept *block, Shelf &shelf) noexcept {
    block->below = shelf.top;
    shelf.top = block;
    statistics_.kept += block->size;
}

// Lifts blocks onto others until at most so many bytes are kept, first those of the size that was
// used longest ago: sizes change with the shapes of a program's input, and old ones may never be
// asked for again.
Blocks::Kept *Blocks::shrink_to(size_t bytes, Kept *lifted) noexcept {
    const auto age = [](const Shelf &shelf) { return shelf.top ? shelf.last_use : UINT64_MAX; };
    while (statistics_.kept > bytes) {
        Shelf &oldest = *std::ranges::min_element(shelves_, {}, age);
        Kept *block = lift(oldest);
        block->below = lifted;
        lifted = block;
    }
    return lifted;
}

void Blocks::let_go(Kept *blocks) noexcept {
    while (blocks) {
        Kept *block = std::exchange(blocks, blocks->below);
        to_system(block, block->size);
    }
}

namespace {

// Of the memory that this process may have, one part in so many is kept.
constexpr size_t SHARE_KEPT = 4;

size_t memory_in_total() {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return static_cast<size_t>(std::min(look_at_system().total, pages * page));
}

Blocks *new_blocks() {
    pthread_atfork([] { blocks().lock(); }, [] { blocks().unlock(); }, [] { blocks().unlock(); });
    return new Blocks(memory_in_total() / SHARE_KEPT);
}

}  // namespace

Blocks &blocks() noexcept {
    static Blocks &made = *new_blocks();
    return made;
}

}  // namespace brimstone
