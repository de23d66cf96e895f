// What there is of memory, in files as Linux writes them; and blocks that are refused for want of
// it.
#include "room.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "check.hpp"
#include "memory.hpp"

namespace brimstone {
namespace {

namespace fs = std::filesystem;
constexpr int64_t MIB = int64_t{1} << 20;

// A folder of its own for files, which goes with it.
struct Folder {
    fs::path path = fs::temp_directory_path() / ("room_" + std::to_string(getpid()));

    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }

    void write(const fs::path &name, const std::string &text) const {
        fs::create_directories((path / name).parent_path());
        std::ofstream(path / name) << text;
    }
    Room look() const { return brimstone::look(path.c_str()); }
};

void test_nothing_is_said() {
    const Folder folder;
    check(folder.look().left == INT64_MAX && folder.look().total == INT64_MAX);
    check(folder.look().most() == INT64_MAX);
    folder.write("proc/meminfo", "\n?\nMemTotal: many kB\n\xff");
    folder.write("proc/self/cgroup", "0\n0:\n\n7:memory");
    check(folder.look().most() == INT64_MAX);
}

void test_the_machine() {
    const Folder folder;
    folder.write("proc/meminfo", "MemTotal:  4096 kB\nMemAvailable: 1024 kB\nSwapFree: 512 kB\n");
    const Room room = folder.look();
    check(room.left == MIB && room.total == 4 * MIB && room.swap == MIB / 2);
    check(room.most() == MIB + MIB / 2);
}

void test_groups() {
    const Folder folder;
    folder.write("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable: 8192 kB\n");
    folder.write("proc/self/cgroup", "0::/outer/inner\n");
    folder.write("sys/fs/cgroup/outer/memory.max", "4194304\n");
    folder.write("sys/fs/cgroup/outer/memory.current", "3145728\n");
    folder.write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
    folder.write("sys/fs/cgroup/outer/inner/memory.current", "0\n");
    check(folder.look().left == MIB && folder.look().total == 4 * MIB);
    folder.write("sys/fs/cgroup/outer/memory.stat",
                 "anon 5\ninactive_file 1048576\nactive_file 7\n");
    check(folder.look().left == 2 * MIB + 7);
    folder.write("sys/fs/cgroup/outer/memory.current", "9999999\n");
    check(folder.look().left == 0);
}

void test_swap_of_groups() {
    const Folder folder;
    folder.write("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable: 8192 kB\nSwapFree: 4096 kB\n");
    folder.write("proc/self/cgroup", "0::/outer/inner\n");
    check(folder.look().swap == 4 * MIB);
    folder.write("sys/fs/cgroup/outer/inner/memory.swap.max", "max\n");
    folder.write("sys/fs/cgroup/outer/inner/memory.swap.current", "0\n");
    check(folder.look().swap == 4 * MIB);
    folder.write("sys/fs/cgroup/outer/memory.swap.max", "3145728\n");
    folder.write("sys/fs/cgroup/outer/memory.swap.current", "1048576\n");
    check(folder.look().swap == 2 * MIB && folder.look().most() == 10 * MIB);
    folder.write("sys/fs/cgroup/outer/memory.swap.max", "0\n");
    check(folder.look().swap == 0);
}

void test_limits_of_this_process() {
    const Folder folder;
    folder.write("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable: 2048 kB\nSwapFree: 4096 kB\n");
    folder.write("proc/self/status", "Name: x\nVmSize:     1024 kB\nVmData:      512 kB\n");
    folder.write("proc/self/limits",
                 "Limit Soft Hard Units\nMax data size  unlimited  unlimited  bytes\n"
                 "Max address space  unlimited  unlimited  bytes\n");
    check(folder.look().most() == 6 * MIB);
    folder.write("proc/self/limits", "Max address space     5242880    unlimited    bytes\n");
    check(folder.look().left == 2 * MIB && folder.look().swap == 2 * MIB);
    check(folder.look().total == 5 * MIB);
    folder.write("proc/self/limits",
                 "Max data size         1048576      1048576      bytes\n"
                 "Max address space     2097152      2097152      bytes\n");
    check(folder.look().left == MIB / 2 && folder.look().swap == 0);
    folder.write("proc/self/limits", "Max data size         1      1      bytes\n");
    check(folder.look().most() == 0);
}

int looks = 0;
int64_t left = 0;

Room counted() noexcept {
    ++looks;
    return {left, left, 0};
}

void test_blocks_that_are_not_there() {
    Blocks blocks(64 * MIB, counted);
    left = 8 * MIB;
    check(blocks.take(9 * MIB) == nullptr);
    check(blocks.statistics().in_use == 0);
    void *block = blocks.take(4 * MIB);
    check(block);
    // What is kept is let go where that helps.
    blocks.give(block, 4 * MIB);
    left = 0;
    check(blocks.take(5 * MIB) == nullptr);
    check(blocks.statistics().kept == 0);
}

void test_the_system_has_back_what_is_given_when_it_had_nothing_left() {
    Blocks blocks(64 * MIB, counted);
    left = 8 * MIB;
    void *first = blocks.take(4 * MIB), *second = blocks.take(2 * MIB);
    left = 0;
    check(first && second && blocks.take(5 * MIB) == nullptr);
    blocks.give(first, 4 * MIB);
    check(blocks.statistics().kept == 0);
    left = 8 * MIB;
    void *third = blocks.take(MIB);
    blocks.give(second, 2 * MIB);
    blocks.give(third, MIB);
    check(blocks.statistics().kept == 3 * MIB);
}

void test_a_look_is_good_for_many_blocks() {
    Blocks blocks(0, counted);
    left = 1024 * MIB;
    looks = 0;
    for (int round = 0; round < 128; ++round) blocks.give(blocks.take(MIB), MIB);
    check(looks == 1 || looks == 2);
    left = 0;
    int taken = 0;
    for (; void *block = blocks.take(MIB); ++taken) blocks.give(block, MIB);
    check(taken < 128);
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_nothing_is_said();
    test_the_machine();
    test_groups();
    test_swap_of_groups();
    test_limits_of_this_process();
    test_blocks_that_are_not_there();
    test_the_system_has_back_what_is_given_when_it_had_nothing_left();
    test_a_look_is_good_for_many_blocks();
    return exit_status();
}
