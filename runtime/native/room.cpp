#include "room.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace brimstone {
namespace {

using Path = std::filesystem::path;
using Number = std::optional<int64_t>;

constexpr int64_t KIBIBYTE = 1024;

// Where a version of control groups lies, its files of the limit and the use, and the words of
// `memory.stat` for what of the use can be had back.
struct Version {
    const char *folder, *limit, *use;
    std::initializer_list<std::string_view> returnable;
};
const Version OLD = {"sys/fs/cgroup/memory",
                     "memory.limit_in_bytes",
                     "memory.usage_in_bytes",
                     {"total_inactive_file", "total_active_file"}};
const Version NEW = {
    "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};

// The number that a file is; none for a word, such as "max".
Number number_in(const Path &file) {
    std::ifstream stream(file);
    int64_t number = 0;
    return stream >> number ? Number(number) : std::nullopt;
}

// The number behind a word, in a file with one of each a line.
Number number_of(std::string_view word, const Path &file) {
    std::ifstream stream(file);
    int64_t number = 0;
    for (std::string found; stream >> found; stream.ignore(std::numeric_limits<int>::max(), '\n'))
        if (found == word) return stream >> number ? Number(number) : std::nullopt;
    return std::nullopt;
}

void look_at_machine(Room &room, const Path &root) {
    const Path file = root / "proc/meminfo";
    const Number left = number_of("MemAvailable:", file), total = number_of("MemTotal:", file);
    if (!left || !total) return;
    const int64_t swap = number_of("SwapFree:", file).value_or(0);
    room = {*left * KIBIBYTE, *total * KIBIBYTE, swap * KIBIBYTE};
}

void look_at_group(Room &room, const Path &group, const Version &version) {
    const Number limit = number_in(group / version.limit), use = number_in(group / version.use);
    if (!limit || !use) return;
    int64_t needed = *use;
    for (const std::string_view word : version.returnable)
        needed -= number_of(word, group / "memory.stat").value_or(0);
    room.left = std::min(room.left, *limit - std::clamp<int64_t>(needed, 0, *limit));
    room.total = std::min(room.total, *limit);
}

// All groups that this process is in: the innermost, and those around it. In a container the name
// may be one of the machine's: its own group is then the folder itself.
void look_at_groups(Room &room, const Path &root) {
    std::ifstream stream(root / "proc/self/cgroup");
    for (std::string line; std::getline(stream, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        line[first] = line[second] = ',';
        const auto controllers = std::string_view(line).substr(first, second + 1 - first);
        const bool is_new = controllers == ",,";
        if (!is_new && controllers.find(",memory,") == std::string_view::npos) continue;
        const Version &version = is_new ? NEW : OLD;
        const Path folder = root / version.folder;
        for (Path name = Path(line.substr(second + 1)).relative_path(); !name.empty();
             name = name.parent_path())
            look_at_group(room, folder / name, version);
        look_at_group(room, folder, version);
    }
}

}  // namespace

Room look(const char *root) noexcept {
    Room room;
    try {
        look_at_machine(room, root);
        look_at_groups(room, root);
    } catch (const std::exception &) {
        // What has been found has to do.
    }
    return room;
}

Room look_at_system() noexcept { return look("/"); }

}  // namespace brimstone
