#include "tape.hpp"

#include <algorithm>
#include <vector>

#include "pack.hpp"

namespace brimstone {
namespace {

class Replay {
  public:
    Replay(const brimstone_tape &tape, const int64_t *given)
        : tape_(tape), given_(given), values_(static_cast<size_t>(tape.line_count)) {}

    bool run() {
        for (at_ = 0; at_ < values_.size(); ++at_)
            if (!line(tape_.lines[at_])) return false;
        return true;
    }

    int64_t value(int64_t line) const { return values_[static_cast<size_t>(line)]; }

  private:
    bool line(const brimstone_line &line) {
        int64_t &made = values_[at_];
        switch (line.kind) {
            case BRIMSTONE_GIVEN: made = given_[line.left]; return true;
            case BRIMSTONE_CONSTANT: made = line.left; return true;
            case BRIMSTONE_PACK: return pack(line.left, static_cast<size_t>(line.right));
        }
        return pair(line.kind, value(line.left), value(line.right), made);
    }

    static bool pair(int64_t kind, int64_t left, int64_t right, int64_t &made) {
        switch (kind) {
            case BRIMSTONE_ADD: return !__builtin_add_overflow(left, right, &made);
            case BRIMSTONE_SUBTRACT: return !__builtin_sub_overflow(left, right, &made);
            case BRIMSTONE_MULTIPLY: return !__builtin_mul_overflow(left, right, &made);
            case BRIMSTONE_DIVIDE: return divide(left, right, made);
            case BRIMSTONE_LEAST: made = std::min(left, right); return true;
            case BRIMSTONE_GREATEST: made = std::max(left, right); return true;
            case BRIMSTONE_LESS: return left < right;
            case BRIMSTONE_AT_MOST: return left <= right;
            case BRIMSTONE_EQUAL: return left == right;
            case BRIMSTONE_DIFFER: return left != right;
        }
        __builtin_unreachable();  // the others have been seen to
    }

    static bool divide(int64_t left, int64_t right, int64_t &made) {
        if (right <= 0) return false;
        made = left / right - (left % right < 0);
        return true;
    }

    // The arrays from one on; the lines behind this one are where each begins.
    bool pack(int64_t first, size_t count) {
        intervals_.assign(tape_.intervals + first, tape_.intervals + first + count);
        for (Interval &each : intervals_) each.bytes = value(each.bytes);
        values_[at_] = brimstone::pack(intervals_);
        if (values_[at_] < 0) return false;
        for (const Interval &each : intervals_) values_[++at_] = each.offset;
        return true;
    }

    const brimstone_tape &tape_;
    const int64_t *given_;
    std::vector<int64_t> values_;
    std::vector<Interval> intervals_;
    size_t at_ = 0;
};

}  // namespace

bool replay(const brimstone_tape &tape, const int64_t *given, int64_t *words) {
    Replay replay(tape, given);
    if (!replay.run()) return false;
    for (int64_t i = 0; i < tape.word_count; ++i) words[i] = replay.value(tape.words[i]);
    for (int64_t i = 0; i < tape.pointer_count; ++i) {
        int64_t &word = words[tape.pointers[i]];
        word = reinterpret_cast<int64_t>(words + word);
    }
    return true;
}

}  // namespace brimstone
