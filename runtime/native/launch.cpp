#include "launch.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "memory.hpp"

namespace brimstone {
namespace {

std::atomic<bool> stopped = false;
thread_local bool goes_on = false;

// Memory that a kernel uses while it runs.
class Scratch {
  public:
    explicit Scratch(int64_t bytes) noexcept
        : bytes_(static_cast<size_t>(bytes)), memory_(static_cast<char *>(blocks().take(bytes_))) {}
    ~Scratch() { blocks().give(memory_, bytes_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    // A null pointer, if there is none.
    char *begin() const noexcept { return memory_; }

  private:
    const size_t bytes_;
    char *const memory_;
};

struct Job {
    std::span<const brimstone_launch> launches;
    const uint64_t *slots;
    std::atomic<bool> failed = false;
};

using Range = std::array<int64_t, 6>;

// The programs of one chunk: as many as those of any other one, or one more.
Range programs(const brimstone_launch &launch, int64_t chunk) noexcept {
    Range range = {0, launch.grid[0], 0, launch.grid[1], 0, launch.grid[2]};
    if (launch.chunks == 1) return range;  // a division takes as long as a small kernel
    const int64_t count = launch.grid[launch.axis];
    const int64_t each = count / launch.chunks, larger = count % launch.chunks;
    const int64_t begin = chunk * each + std::min(chunk, larger);
    const auto axis = static_cast<size_t>(launch.axis);
    range[2 * axis] = begin;
    range[2 * axis + 1] = begin + each + (chunk < larger ? 1 : 0);
    return range;
}

// Runs a chunk with memory of its own, behind which lie slots that say where it is; false if there
// is none.
bool run_with_scratch(const brimstone_launch &launch, const uint64_t *slots,
                      const Range &range) noexcept {
    const int64_t slot_count = launch.slot_count + launch.scratch_count;
    const Scratch memory(launch.room + slot_count * static_cast<int64_t>(sizeof *slots));
    if (!memory.begin()) return false;
    auto *own = reinterpret_cast<uint64_t *>(memory.begin() + launch.room);
    uint64_t *scratch = std::copy_n(slots, launch.slot_count, own);
    for (int64_t i = 0; i < launch.scratch_count; ++i)
        scratch[i] = reinterpret_cast<uint64_t>(memory.begin() + launch.scratch_offsets[i]);
    launch.code(own, launch.grid, range.data());
    return true;
}

void run_chunk(Job &job, const brimstone_launch &launch, int64_t chunk) noexcept {
    if (stopping()) return;
    const uint64_t *slots = job.slots + launch.slot;
    const Range range = programs(launch, chunk);
    if (launch.scratch_count == 0)
        launch.code(slots, launch.grid, range.data());
    else if (!run_with_scratch(launch, slots, range))
        job.failed = true;
}

// Of all launches' chunks, the one of this number.
void run_chunk(void *context, int64_t chunk) {
    Job &job = *static_cast<Job *>(context);
    const auto after = std::ranges::upper_bound(job.launches, chunk, {}, &brimstone_launch::first);
    const brimstone_launch &launch = *std::prev(after);
    run_chunk(job, launch, chunk - launch.first);
}

}  // namespace

void stop() noexcept { stopped.store(true); }

void go_on() noexcept { goes_on = true; }

bool is_stopped() noexcept { return stopped.load(std::memory_order_relaxed); }

bool stopping() noexcept { return is_stopped() && !goes_on; }

bool run(Pool *pool, std::span<const brimstone_launch> launches, const uint64_t *slots) noexcept {
    Job job{launches, slots};
    if (pool && !is_stopped()) {
        const int64_t chunks = launches.back().first + launches.back().chunks;
        pool->run(chunks, run_chunk, &job);
        return !job.failed;
    }
    Range all = {};
    for (const brimstone_launch &launch : launches) {
        if (launch.chunks == 1 && launch.scratch_count == 0) {  // as a small kernel has it
            if (stopping()) break;
            for (size_t axis = 0; axis < 3; ++axis) all[2 * axis + 1] = launch.grid[axis];
            launch.code(slots + launch.slot, launch.grid, all.data());
            continue;
        }
        for (int64_t chunk = 0; chunk < launch.chunks; ++chunk) run_chunk(job, launch, chunk);
    }
    return !job.failed;
}

}  // namespace brimstone
