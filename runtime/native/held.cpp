#include "held.hpp"

#include "array.hpp"
#include "gone.hpp"

namespace brimstone {
namespace {

struct Held {
    brimstone_arrays *arrays;
    PyObject *forms;
    int64_t bytes;
};

// Those that are left, and perhaps one more.
void drop_all(brimstone_arrays *more) noexcept {
    const Unlocked unlocked;
    drop_gone();
    leave(more);
}

// What was given away has no memory to give back, as all states of a training but the last one.
void drop(const Held &held) noexcept {
    if (held.forms) Py_DecRef(held.forms);
    if (!held.arrays) return;
    const bool are_taken = held.arrays->are_taken.load(std::memory_order_acquire);
    if (!leave_to_next(held.arrays, are_taken ? 0 : held.bytes)) drop_all(held.arrays);
}

// Held(address, forms, bytes)
PyObject *make(PyObject *type, PyObject *given, PyObject *) noexcept {
    unsigned long long address = 0;
    long long bytes = 0;
    PyObject *forms = nullptr;
    if (!PyArg_ParseTuple(given, "KOL", &address, &forms, &bytes)) return nullptr;
    return hold_in(type, reinterpret_cast<brimstone_arrays *>(address), forms, bytes);
}

void end(PyObject *self) noexcept {
    const Held held = in<Held>(self);
    free_object(self);
    drop(held);
}

PyObject *address(PyObject *self, void *) noexcept {
    return PyLong_FromVoidPtr(in<Held>(self).arrays);
}

PyObject *forms(PyObject *self, void *) noexcept {
    return Ref::more(in<Held>(self).forms).give();
}

PyObject *there(PyObject *self, PyObject *) noexcept {
    return PyLong_FromVoidPtr(brimstone_peek(in<Held>(self).arrays));
}

// How numpy calls the dtype of the first array, in one letter; 0 if Python has raised an error.
unsigned letter_of(const Held &held) noexcept {
    const Ref form(PySequence_GetItem(held.forms, 0));
    const Ref storage(form ? PySequence_GetItem(form.get(), 1) : nullptr);
    const Ref letter(storage ? PyObject_GetAttrString(storage.get(), "char") : nullptr);
    return letter ? PyUnicode_ReadChar(letter.get(), 0) : 0;
}

PyObject *number_at(const void *place, unsigned letter) noexcept {
    switch (letter) {
        case 'f': return PyFloat_FromDouble(*static_cast<const float *>(place));
        case 'd': return PyFloat_FromDouble(*static_cast<const double *>(place));
        case 'i': return PyLong_FromLongLong(*static_cast<const int32_t *>(place));
        case 'l': return PyLong_FromLongLong(*static_cast<const int64_t *>(place));
        case '?': return PyBool_FromLong(*static_cast<const uint8_t *>(place));
    }
    return nullptr;
}

PyObject *number(PyObject *self, PyObject *) noexcept {
    const Held &held = in<Held>(self);
    const unsigned letter = letter_of(held);
    if (!letter) return nullptr;
    if (const void *place = brimstone_peek(held.arrays))
        if (PyObject *made = number_at(place, letter)) return made;
    if (PyErr_Occurred()) return nullptr;
    const auto waited = [self] { return PyObject_CallMethod(self, "array", nullptr); };
    const Ref array(from_python(waited));
    return array ? PyObject_CallMethod(array.get(), "item", nullptr) : nullptr;
}

PyObject *drop_what_is_gone(PyObject *, PyObject *) noexcept {
    drop_all(nullptr);
    return Py_BuildValue("");  // None
}

PyMethodDef methods[] = {
    {"there", there, TAKES_NOTHING, "Where the first array begins; 0 if it is not there."},
    {"number", number, TAKES_NOTHING, "The only element of one that is alone, once computed."},
    {"drop_gone", drop_what_is_gone, TAKES_NOTHING | IS_STATIC, "Drop what nobody has any more."},
    {},
};
PyGetSetDef getters[] = {
    {"address", address, nullptr, "Where the core has them.", nullptr},
    {"forms", forms, nullptr, "What each is but for its contents.", nullptr},
    {},
};
PyType_Slot slots[] = {
    {TOLD, const_cast<char *>("Arrays of the core: Held(address, forms, bytes).")},
    {MADE, reinterpret_cast<void *>(make)},
    {DROPPED, reinterpret_cast<void *>(end)},
    {METHODS, methods},
    {GETTERS, getters},
    {},
};

}  // namespace

PyObject *new_held_type() noexcept {
    PyType_Spec spec = spec_of<Held>("brimstone.runtime.native.Held", MAY_BE_DERIVED_FROM, slots);
    return PyType_FromSpec(&spec);
}

PyObject *hold_in(PyObject *type, brimstone_arrays *arrays, PyObject *forms,
                  int64_t bytes) noexcept {
    PyObject *made = PyType_GenericAlloc(type, 0);
    Py_IncRef(forms);
    const Held held = {arrays, forms, bytes};
    if (made)
        in<Held>(made) = held;
    else
        drop(held);
    return made;
}

brimstone_arrays *arrays_in(PyObject *object) noexcept { return in<Held>(object).arrays; }

}  // namespace brimstone
