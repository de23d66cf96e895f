#include "skyline.hpp"

#include <algorithm>
#include <limits>

namespace brimstone {
namespace {

constexpr size_t LEFT_WALL = 0;
constexpr size_t RIGHT_WALL = 1;
constexpr int64_t WALL = std::numeric_limits<int64_t>::max();
constexpr int64_t GONE = -1;

}  // namespace

Skyline::Skyline(int64_t begin, int64_t end)
    : ledges_{{begin, begin, WALL, LEFT_WALL, RIGHT_WALL}, {end, end, WALL, LEFT_WALL, RIGHT_WALL}},
      lowest_(add({begin, end, 0, LEFT_WALL, RIGHT_WALL})) {}

const Skyline::Ledge &Skyline::lowest() {
    while (heights_.top().first != ledges_[heights_.top().second].height) heights_.pop();
    lowest_ = heights_.top().second;
    return ledges_[lowest_];
}

void Skyline::put(int64_t begin, int64_t end, int64_t bytes) {
    const Ledge old = ledges_[lowest_];
    if (old.begin < begin) add({old.begin, begin - 1, old.height, old.left, lowest_});
    if (end < old.end) add({end + 1, old.end, old.height, lowest_, old.right});
    ledges_[lowest_].begin = begin;
    ledges_[lowest_].end = end;
    set_height(lowest_, old.height + bytes);
}

void Skyline::raise() {
    const size_t left = ledges_[lowest_].left, right = ledges_[lowest_].right;
    const int64_t height = std::min(ledges_[left].height, ledges_[right].height);
    if (ledges_[left].height == height) swallow(left);
    if (ledges_[right].height == height) swallow(right);
    set_height(lowest_, height);
}

size_t Skyline::add(const Ledge &ledge) {
    const size_t added = ledges_.size();
    ledges_.push_back(ledge);
    ledges_[ledge.left].right = added;
    ledges_[ledge.right].left = added;
    heights_.emplace(ledge.height, added);
    return added;
}

void Skyline::set_height(size_t ledge, int64_t height) {
    ledges_[ledge].height = height;
    heights_.emplace(height, ledge);
}

// Makes a neighbour a part of the lowest ledge.
void Skyline::swallow(size_t neighbour) {
    Ledge &ledge = ledges_[lowest_];
    Ledge &gone = ledges_[neighbour];
    ledge.begin = std::min(ledge.begin, gone.begin);
    ledge.end = std::max(ledge.end, gone.end);
    if (neighbour == ledge.left) {
        ledge.left = gone.left;
        ledges_[gone.left].right = lowest_;
    } else {
        ledge.right = gone.right;
        ledges_[gone.right].left = lowest_;
    }
    gone.height = GONE;
}

}  // namespace brimstone
