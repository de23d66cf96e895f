// How high memory is filled at each position of a step, while arrays are put into it from below.
//
// Comes in: the arrays, one after the other, each onto the lowest ledge there is. Goes out: the
// ledge that is then the lowest.
// Never: a look at what lies below a ledge; a gap that was closed stays unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace brimstone {

class Skyline {
  public:
    // Neighbouring positions, the first and the last one included, that are filled equally high.
    struct Ledge {
        int64_t begin;
        int64_t end;
        int64_t height;
        size_t left;
        size_t right;
    };

    Skyline(int64_t begin, int64_t end);

    const Ledge &lowest();
    // Puts something onto the lowest ledge, within its ends.
    void put(int64_t begin, int64_t end, int64_t bytes);
    // Raises the lowest ledge to the lower one of its neighbours, and makes one ledge of both.
    void raise();

  private:
    size_t add(const Ledge &ledge);
    void set_height(size_t ledge, int64_t height);
    void swallow(size_t neighbour);

    std::vector<Ledge> ledges_;  // the first two are the walls
    // Heights and ledges, the lowest first. A height that is no longer its ledge's counts no more.
    using Entry = std::pair<int64_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heights_;
    size_t lowest_;
};

}  // namespace brimstone
