// A program as Python calls it.
//
// Comes in: pieces: objects that hold arrays, or sequences of some. Goes out: what the program
// makes of them, dealt, so many arrays to each of a list of new objects.
// Never: Python's lock while the core is at it; a look at signals, at which Python looks behind
// the call.
#pragma once

#include "python.hpp"

namespace brimstone {

// The type, new; a null pointer if Python has raised an error.
PyObject *new_dealer_type() noexcept;

}  // namespace brimstone
