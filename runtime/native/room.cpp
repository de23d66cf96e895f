#include "room.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace brimstone {
namespace {

using Path = std::filesystem::path;
using Number = std::optional<int64_t>;

constexpr int64_t KIBIBYTE = 1024;
constexpr std::string_view BLANKS = " \t\n";

// Where a version of control groups lies, its files of the limit and the use, the words of
// `memory.stat` for what of the use can be had back, and its files of swap. What version 1 says of
// swap counts the memory too; it is not looked at.
struct Version {
    const char *folder, *limit, *use;
    std::initializer_list<std::string_view> returnable;
    const char *swap_limit = nullptr, *swap_use = nullptr;
};
const Version OLD = {"sys/fs/cgroup/memory",
                     "memory.limit_in_bytes",
                     "memory.usage_in_bytes",
                     {"total_inactive_file", "total_active_file"}};
const Version NEW = {"sys/fs/cgroup",
                     "memory.max",
                     "memory.current",
                     {"inactive_file", "active_file"},
                     "memory.swap.max",
                     "memory.swap.current"};

// A limit of this process, and the word of its `status` for the use.
struct Limit {
    std::string_view name, use;
};
constexpr std::array<Limit, 2> LIMITS = {
    {{"Max address space", "VmSize:"}, {"Max data size", "VmData:"}}};

// What a file says; nothing if nobody can read it. Streams of C++ are not used: a library that has
// their code in it, as some compilers link it, shares some of their variables with others that have
// other code, and ends the process.
std::string text_of(const Path &file) {
    using Close = int (*)(FILE *);
    const std::unique_ptr<FILE, Close> opened(std::fopen(file.c_str(), "re"), std::fclose);
    std::string text;
    if (!opened) return text;
    std::array<char, 4096> part;
    while (const size_t count = std::fread(part.data(), 1, part.size(), opened.get()))
        text.append(part.data(), count);
    return text;
}

// What stands in a text before one of these characters, which is taken from it with one of them.
std::string_view cut(std::string_view &text, std::string_view ends) {
    const std::string_view before = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(std::min(before.size() + 1, text.size()));
    return before;
}

// The number that a text begins with, after blanks; none for a word, such as "max".
Number number_in(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(BLANKS), text.size()));
    int64_t number = 0;
    const auto found = std::from_chars(text.data(), text.data() + text.size(), number);
    return found.ec == std::errc() ? Number(number) : std::nullopt;
}

// The number behind a word, in a text with one of each a line.
Number number_of(std::string_view word, std::string_view text) {
    while (!text.empty()) {
        std::string_view line = cut(text, "\n");
        if (cut(line, BLANKS) == word) return number_in(line);
    }
    return std::nullopt;
}

void look_at_machine(Room &room, const Path &root) {
    const std::string text = text_of(root / "proc/meminfo");
    const Number left = number_of("MemAvailable:", text), total = number_of("MemTotal:", text);
    if (!left || !total) return;
    const int64_t swap = number_of("SwapFree:", text).value_or(0);
    room = {*left * KIBIBYTE, *total * KIBIBYTE, swap * KIBIBYTE};
}

void look_at_swap(Room &room, const Path &group, const Version &version) {
    if (!version.swap_limit) return;
    const Number limit = number_in(text_of(group / version.swap_limit));
    const Number use = number_in(text_of(group / version.swap_use));
    if (limit && use) room.swap = std::min(room.swap, std::max<int64_t>(*limit - *use, 0));
}

void look_at_group(Room &room, const Path &group, const Version &version) {
    look_at_swap(room, group, version);
    const Number limit = number_in(text_of(group / version.limit));
    const Number use = number_in(text_of(group / version.use));
    if (!limit || !use) return;
    const std::string statistics = text_of(group / "memory.stat");
    int64_t needed = *use;
    for (const std::string_view word : version.returnable)
        needed -= number_of(word, statistics).value_or(0);
    room.left = std::min(room.left, *limit - std::clamp<int64_t>(needed, 0, *limit));
    room.total = std::min(room.total, *limit);
}

// All groups that this process is in: the innermost, and those around it. In a container the name
// may be one of the machine's: its own group is then the folder itself.
void look_at_groups(Room &room, const Path &root) {
    const std::string text = text_of(root / "proc/self/cgroup");
    for (std::string_view rest = text; !rest.empty();) {
        std::string line(cut(rest, "\n"));
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

// They are for memory and swap together.
void look_at_limits(Room &room, const Path &root) {
    const std::string limits = text_of(root / "proc/self/limits");
    const std::string status = text_of(root / "proc/self/status");
    for (const Limit &each : LIMITS) {
        const size_t place = limits.find(each.name);
        if (place == std::string::npos) continue;
        const Number limit = number_in(std::string_view(limits).substr(place + each.name.size()));
        const Number use = number_of(each.use, status);
        if (!limit || !use) continue;
        const int64_t left = std::max<int64_t>(*limit - *use * KIBIBYTE, 0);
        room.left = std::min(room.left, left);
        room.swap = std::min(room.swap, left - room.left);
        room.total = std::min(room.total, *limit);
    }
}

}  // namespace

Room look(const char *root) noexcept {
    Room room;
    try {
        look_at_machine(room, root);
        look_at_groups(room, root);
        look_at_limits(room, root);
    } catch (const std::exception &) {
        // What has been found has to do.
    }
    return room;
}

Room look_at_system() noexcept { return look("/"); }

}  // namespace brimstone
