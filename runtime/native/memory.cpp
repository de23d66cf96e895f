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
// Large blocks begin at one of so many places, so far from each other, or a page, in turn. Cores
// have level-2 caches whose sets recur after 64 or 128 KiB.
constexpr size_t PLACES = 8, PLACE = size_t{16} << 10, STRIDE = 5;
constexpr size_t LARGEST = SIZE_MAX / 4;
// One part in so many of what is left is taken without another look.
constexpr size_t SHARE_UNLOOKED = 8;
// How many bytes more, or less, a home uses until it tells the others, and after how many uses it
// tells them the time.
constexpr int64_t TOLD_BYTES = int64_t{64} << 10, TOLD_USES = 1024;

void raise(std::atomic<int64_t> &most, int64_t value) noexcept {
    int64_t before = most.load(std::memory_order_relaxed);
    while (before < value && !most.compare_exchange_weak(before, value)) {
    }
}

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

// How far into its first huge page the next large block begins. What lies at one place of several
// large arrays would fall into one set of a cache, which has 8 or 16 lines, if all began at once.
size_t stagger() noexcept {
    static std::atomic<size_t> blocks = 0;
    static const size_t place = std::max(PLACE, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
    return blocks.fetch_add(1, std::memory_order_relaxed) * STRIDE % PLACES * place;
}

// Where the huge page begins in which an address is.
char *page_of(void *address) noexcept {
    const size_t within = reinterpret_cast<uintptr_t>(address) % HUGE_PAGE;
    return static_cast<char *>(address) - within;
}

// Memory that begins in a huge page of its own: the kernel fills those in 512 times fewer steps.
// It is mapped with room to spare, and what lies around the aligned part is unmapped again.
void *map(size_t size) noexcept {
    const size_t skipped = stagger(), length = skipped + size;
    void *mapped = mmap(nullptr, length + HUGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char *start = static_cast<char *>(mapped);
    const size_t before = -reinterpret_cast<uintptr_t>(start) % HUGE_PAGE;
    const size_t after = HUGE_PAGE - before;
    if (before > 0) munmap(start, before);
    munmap(start + before + length, after);
#ifdef MADV_HUGEPAGE
    madvise(start + before, length, MADV_HUGEPAGE);
#endif
    return start + before + skipped;
}

void unmap(void *block, size_t size) noexcept {
    char *start = page_of(block);
    munmap(start, static_cast<size_t>(static_cast<char *>(block) - start) + size);
}

void *from_system(size_t size) noexcept {
    if (size >= HUGE_PAGE) return map(size);
    void *block = nullptr;
    return posix_memalign(&block, ALIGNMENT, size) == 0 ? block : nullptr;
}

void to_system(void *block, size_t size) noexcept {
    if (size >= HUGE_PAGE)
        unmap(block, size);
    else
        std::free(block);
}

}  // namespace

// The shelves of a home, as they are used now: blocks that come together are often of one size.
class Blocks::Shelves {
  public:
    struct Place {
        size_t size;
        Shelf *shelf;
    };

    Shelves(Home &home, int64_t now) noexcept : home_(home), now_(now) {}

    Place of(size_t bytes) noexcept {
        if (latest_.shelf && bytes == bytes_) return latest_;
        const size_t size = rounded(bytes);
        Shelf &shelf = home_.shelves[shelf_of(size)];
        shelf.last_use = now_;
        bytes_ = bytes;
        return latest_ = {size, &shelf};
    }

  private:
    Home &home_;
    const int64_t now_;
    size_t bytes_ = 0;
    Place latest_ = {};
};

void *Blocks::take(size_t bytes) noexcept {
    if (bytes > LARGEST) return nullptr;
    const size_t size = rounded(bytes);
    void *block = find(size);
    if (!block && (block = fresh(size))) ++taken_from_system_;
    if (block) count_in_use(static_cast<int64_t>(size));
    return block;
}

bool Blocks::take(std::span<Block> blocks) noexcept {
    size_t found = 0;
    {
        Home &own = this->own();
        const std::lock_guard lock(own.mutex);
        Shelves shelves(own, tick(own));
        for (Block &block : blocks) {
            block.start = nullptr;
            if (block.bytes > LARGEST) continue;
            const auto [size, shelf] = shelves.of(block.bytes);
            block.start = lift(*shelf);
            if (block.start) found += size;
        }
        own.kept.store(own.kept.load() - found);
    }
    count_in_use(static_cast<int64_t>(found));
    for (Block &block : blocks) {
        if (!block.start) block.start = take(block.bytes);
        if (block.start) continue;
        give(blocks);
        return false;
    }
    return true;
}

void Blocks::give(void *block, size_t bytes) noexcept {
    const Block given = {block, bytes};
    give({&given, 1});
}

void Blocks::give(std::span<const Block> blocks) noexcept {
    const size_t keep_at_most = is_system_out_ ? 0 : keep_at_most_;
    Kept *unwanted = nullptr;
    size_t given = 0, kept_here = 0;
    {
        Home &own = this->own();
        const std::lock_guard lock(own.mutex);
        Shelves shelves(own, tick(own));
        kept_here = own.kept.load();
        for (const Block &block : blocks) {
            if (!block.start) continue;
            const auto [size, shelf] = shelves.of(block.bytes);
            Kept *kept = new (block.start) Kept{nullptr, size};
            given += size;
            if (size > keep_at_most) {
                kept->below = std::exchange(unwanted, kept);
                continue;
            }
            lay(kept, *shelf);
            kept_here += size;
        }
        own.kept.store(kept_here);
    }
    count_in_use(-static_cast<int64_t>(given));
    // Only if one home has more than its share all of them may have too much.
    unmap_all(kept_here > keep_at_most / HOMES ? shrink_to(keep_at_most, unwanted) : unwanted);
}

void Blocks::trim() noexcept { unmap_all(shrink_to(0, nullptr)); }

Blocks::Statistics Blocks::statistics() const noexcept {
    int64_t in_use = in_use_, peak = peak_in_use_;
    for (const Home &each : homes_) peak = std::max(peak, in_use_ + each.most_untold);
    for (const Home &each : homes_) in_use += each.untold;
    const auto size = [](int64_t bytes) { return static_cast<size_t>(bytes); };
    return {size(in_use), kept(), size(std::max(peak, in_use)), taken_from_system_};
}

void Blocks::lock() noexcept {
    for (Home &each : homes_) each.mutex.lock();
    mutex_.lock();
}

void Blocks::unlock() noexcept {
    mutex_.unlock();
    for (Home &each : homes_) each.mutex.unlock();
}

Blocks::Home &Blocks::own() noexcept { return homes_[own_home()]; }

// A clock that only tells what was before what: to look at a real one takes longer than a block.
// Those of two homes may differ by so many uses as one of them has before it tells the time.
int64_t Blocks::tick(Home &home) noexcept {
    if (++home.clock % TOLD_USES == 0) {
        raise(clock_, home.clock);
        home.clock = clock_.load(std::memory_order_relaxed);
    }
    return home.clock;
}

size_t Blocks::kept() const noexcept {
    size_t kept = 0;
    for (const Home &each : homes_) kept += each.kept.load(std::memory_order_relaxed);
    return kept;
}

// A block that is kept in this thread's home, or in the next one that has one; or a null pointer.
Blocks::Kept *Blocks::find(size_t size) noexcept {
    for (size_t i = 0; i < HOMES; ++i) {
        Home &each = homes_[(own_home() + i) % HOMES];
        const std::lock_guard lock(each.mutex);
        Shelf &shelf = each.shelves[shelf_of(size)];
        shelf.last_use = tick(each);
        Kept *block = lift(shelf);
        if (!block) continue;
        each.kept.store(each.kept.load() - size);
        return block;
    }
    return nullptr;
}

// The system may take long, so no lock is held.
void *Blocks::fresh(size_t size) noexcept {
    void *block = is_there(size) ? from_system(size) : nullptr;
    if (!block) {
        trim();
        block = is_there(size) ? from_system(size) : nullptr;
    }
    if (is_system_out_ != !block) is_system_out_ = !block;
    return block;
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

// What is much is told at once. How much was in use at the most nobody knows better than that.
void Blocks::count_in_use(int64_t more) noexcept {
    Home &home = own();
    const int64_t untold = home.untold.fetch_add(more, std::memory_order_relaxed) + more;
    raise(home.most_untold, untold);
    if (std::abs(untold) < TOLD_BYTES) return;
    raise(peak_in_use_, in_use_ + home.most_untold.exchange(0));
    in_use_ += home.untold.exchange(0);
}

// The top block of a shelf, or a null pointer when the shelf is empty.
Blocks::Kept *Blocks::lift(Shelf &shelf) noexcept {
    Kept *block = shelf.top;
    if (!block) return nullptr;
    shelf.top = block->below;
    return block;
}

void Blocks::lay(Kept *block, Shelf &shelf) noexcept {
    block->below = shelf.top;
    shelf.top = block;
}

// Lifts blocks onto others until at most so many bytes are kept, first those of the size that was
// used longest ago: sizes change with the shapes of a program's input, and old ones may never be
// asked for again.
Blocks::Kept *Blocks::shrink_to(size_t bytes, Kept *lifted) noexcept {
    if (kept() <= bytes) return lifted;
    lock();
    while (kept() > bytes) {
        Kept *block = lift_longest_unused();
        block->below = lifted;
        lifted = block;
    }
    unlock();
    return lifted;
}

// Of all shelves that are not empty.
Blocks::Kept *Blocks::lift_longest_unused() noexcept {
    const auto age = [](const Shelf &shelf) { return shelf.top ? shelf.last_use : INT64_MAX; };
    Home *home = nullptr;
    Shelf *oldest = nullptr;
    for (Home &each : homes_) {
        Shelf &shelf = *std::ranges::min_element(each.shelves, {}, age);
        if (home && age(shelf) >= age(*oldest)) continue;
        home = &each;
        oldest = &shelf;
    }
    Kept *block = lift(*oldest);
    home->kept.store(home->kept.load() - block->size);
    return block;
}

void Blocks::unmap_all(Kept *blocks) noexcept {
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
