// Indices that must name places.
//
// Comes in: indices of any integer type, and the sizes of the axes along which they name places.
// Goes out: the first index that names none.
// Never: an index that counts from the end.
#pragma once

#include <cstdint>

namespace brimstone {

// Which of so many indices it is, or -1; `outside` becomes its bits. The slots hold the address of
// the indices, how many bytes each has, whether they are signed, how many axes there are, and the
// size of each: the indices name places along all of them in turn.
int64_t first_outside(const uint64_t *slots, int64_t count, int64_t &outside) noexcept;

}  // namespace brimstone
