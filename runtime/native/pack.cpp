#include "pack.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "skyline.hpp"

// How it works: memory is filled from below, as boxes are put on a floor that is as wide as the
// step is long. Always the lowest place is looked at, and the first box that fits there is put
// down; where no box fits, the place is raised to the lower of its two neighbours. "First" is meant
// in several orders, and the best outcome counts.

namespace brimstone {
namespace {

constexpr int64_t ALIGNMENT = 64;
constexpr int64_t NEGLIGIBLE = 1000;  // one part in so many is not worth another try
constexpr int64_t HIGHEST = std::numeric_limits<int64_t>::max();

struct Box {
    Interval *interval;
    int64_t begin;
    int64_t end;
    int64_t bytes;
    int64_t offset = 0;
    int rank = 0;
};

int64_t rounded(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// The boxes that wait to be put down, as leaves of a tree. A node knows of all boxes below it the
// best rank, the last begin and the first end, which is enough to pass by most that do not fit.
class Waiting {
  public:
    explicit Waiting(std::span<const Box> boxes);

    // The rank of the first box that fits between two positions, which then waits no longer.
    int take(int64_t begin, int64_t end);

    static constexpr int NOBODY = std::numeric_limits<int>::max();

  private:
    struct Node {
        int rank = NOBODY;
        int64_t last_begin = -HIGHEST;
        int64_t first_end = HIGHEST;
    };

    void join(size_t node);
    bool promises(size_t node, int64_t begin, int64_t end, size_t found) const;
    void look(size_t node, int64_t begin, int64_t end, size_t &found) const;

    size_t leaves_;
    std::vector<Node> nodes_;  // below node n are 2n and 2n + 1; node 1 is the root, 0 is nobody
};

Waiting::Waiting(std::span<const Box> boxes)
    : leaves_(std::bit_ceil(boxes.size())), nodes_(2 * leaves_) {
    for (size_t i = 0; i < boxes.size(); ++i)
        nodes_[leaves_ + i] = {boxes[i].rank, boxes[i].begin, boxes[i].end};
    for (size_t node = leaves_ - 1; node > 0; --node) join(node);
}

int Waiting::take(int64_t begin, int64_t end) {
    size_t found = 0;
    if (promises(1, begin, end, found)) look(1, begin, end, found);
    const int rank = nodes_[found].rank;
    nodes_[found] = {};
    for (size_t node = found / 2; node > 0; node /= 2) join(node);
    return rank;
}

void Waiting::join(size_t node) {
    const Node &left = nodes_[2 * node];
    const Node &right = nodes_[2 * node + 1];
    nodes_[node] = {std::min(left.rank, right.rank), std::max(left.last_begin, right.last_begin),
                    std::min(left.first_end, right.first_end)};
}

// Whether below a node there may be a box that fits and has a better rank than the one found.
bool Waiting::promises(size_t node, int64_t begin, int64_t end, size_t found) const {
    const Node &here = nodes_[node];
    return here.rank < nodes_[found].rank && here.last_begin >= begin && here.first_end <= end;
}

// Finds the leaf with the best rank of all that fit, below a node that promises one.
void Waiting::look(size_t node, int64_t begin, int64_t end, size_t &found) const {
    if (node >= leaves_) {
        found = node;
        return;
    }
    const size_t left = 2 * node, right = left + 1;
    const size_t better = nodes_[left].rank < nodes_[right].rank ? left : right;
    const size_t other = left + right - better;
    if (promises(better, begin, end, found)) look(better, begin, end, found);
    if (promises(other, begin, end, found)) look(other, begin, end, found);
}

double length(const Box &box) { return static_cast<double>(box.end - box.begin + 1); }
double bytes(const Box &box) { return static_cast<double>(box.bytes); }
double area(const Box &box) { return length(box) * bytes(box); }

constexpr std::array ORDERS = {area, length, bytes};

// Whether there is a number for the bytes of all intervals together.
bool can_be_counted(std::span<const Interval> intervals) {
    int64_t left = HIGHEST;
    for (const Interval &interval : intervals) {
        if (interval.bytes > left - ALIGNMENT) return false;
        left -= rounded(interval.bytes);
    }
    return true;
}

// The boxes of all intervals that take room, by their begin, which keeps neighbours in the tree
// alike.
std::vector<Box> boxes_of(std::span<Interval> intervals) {
    std::vector<Box> boxes;
    for (Interval &interval : intervals) {
        interval.offset = 0;
        if (interval.bytes > 0)
            boxes.push_back({&interval, interval.begin, interval.end, rounded(interval.bytes)});
    }
    std::ranges::stable_sort(boxes, {}, &Box::begin);
    return boxes;
}

// The boxes with the largest first, by some measure; sets their ranks.
std::vector<Box *> ranked(std::span<Box> boxes, double (*size)(const Box &)) {
    std::vector<Box *> ranked;
    ranked.reserve(boxes.size());
    for (Box &box : boxes) ranked.push_back(&box);
    std::ranges::stable_sort(ranked, std::greater(), [size](const Box *box) { return size(*box); });
    for (int rank = 0; Box *box : ranked) box->rank = rank++;
    return ranked;
}

// Sets the offsets of boxes, and tells how high they reach.
int64_t put_down(std::span<Box> boxes, double (*size)(const Box &)) {
    const std::vector<Box *> by_rank = ranked(boxes, size);
    Waiting waiting(boxes);
    Skyline skyline(boxes.front().begin, std::ranges::max(boxes, {}, &Box::end).end);
    int64_t top = 0;
    for (size_t left = boxes.size(); left > 0;) {
        const Skyline::Ledge &ledge = skyline.lowest();
        const int rank = waiting.take(ledge.begin, ledge.end);
        if (rank == Waiting::NOBODY) {
            skyline.raise();
            continue;
        }
        Box &box = *by_rank[static_cast<size_t>(rank)];
        box.offset = ledge.height;
        top = std::max(top, box.offset + box.bytes);
        skyline.put(box.begin, box.end, box.bytes);
        --left;
    }
    return top;
}

}  // namespace

int64_t pack(std::span<Interval> intervals) {
    if (!can_be_counted(intervals)) return -1;
    std::vector<Box> boxes = boxes_of(intervals);
    if (boxes.empty()) return 0;
    const int64_t least = peak(intervals);
    int64_t best = HIGHEST;
    for (const auto size : ORDERS) {
        const int64_t total = put_down(boxes, size);
        if (total < best) {
            best = total;
            for (const Box &box : boxes) box.interval->offset = box.offset;
        }
        if (best - least <= least / NEGLIGIBLE) break;
    }
    return best;
}

int64_t peak(std::span<const Interval> intervals) {
    std::vector<std::pair<int64_t, int64_t>> changes;  // where, and by how many bytes
    for (const Interval &interval : intervals) {
        changes.emplace_back(interval.begin, rounded(interval.bytes));
        changes.emplace_back(interval.end + 1, -rounded(interval.bytes));
    }
    std::ranges::sort(changes);
    int64_t alive = 0, most = 0;
    for (const auto &[position, change] : changes) most = std::max(most, alive += change);
    return most;
}

}  // namespace brimstone
