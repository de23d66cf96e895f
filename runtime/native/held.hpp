// Arrays as an object of Python holds them.
//
// Comes in: arrays of the core. Goes out: objects, which drop them when Python drops the objects;
// the number that the first array is, or where it begins, once it is computed.
// Never: another thread that gets Python's lock because few bytes are dropped. They are left to the
// next call of a program, since it lets go of that lock, or whoever else comes next (`gone.hpp`).
#pragma once

#include <cstdint>

#include "brimstone.h"
#include "python.hpp"

namespace brimstone {

// The type, new; a null pointer if Python has raised an error.
PyObject *new_held_type() noexcept;
// An object of a type that is derived from it, which holds arrays of so many bytes from now on. If
// there is no memory they are dropped.
PyObject *hold_in(PyObject *type, brimstone_arrays *arrays, PyObject *forms,
                  int64_t bytes) noexcept;
brimstone_arrays *arrays_in(PyObject *object) noexcept;

}  // namespace brimstone
