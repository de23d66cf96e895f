// What the core uses of Python: some functions of its stable ABI.
//
// Comes in: a process of Python, which has these functions. Goes out: their declarations, as every
// version from 3.11 on means them; holds on objects, and on Python's lock.
// Never: Python's headers, so that who builds the core needs none, and one library serves all
// versions; a look into an object that is not of the core's own types.
//
// In a process without Python the functions are null, and nobody calls them.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <utility>

struct PyObject;
struct PyThreadState;

extern "C" {

using PyCFunction = PyObject *(*)(PyObject *self, PyObject *given);
struct PyMethodDef {
    const char *name;
    PyCFunction function;
    int flags;
    const char *doc;
};
struct PyGetSetDef {
    const char *name;
    PyObject *(*get)(PyObject *self, void *closure);
    int (*set)(PyObject *self, PyObject *value, void *closure);
    const char *doc;
    void *closure;
};
struct PyType_Slot {
    int slot;
    void *what;
};
struct PyType_Spec {
    const char *name;
    int size, item_size;
    unsigned flags;
    PyType_Slot *slots;
};

[[gnu::weak]] void Py_IncRef(PyObject *object);
[[gnu::weak]] void Py_DecRef(PyObject *object);
[[gnu::weak]] PyThreadState *PyEval_SaveThread();
[[gnu::weak]] void PyEval_RestoreThread(PyThreadState *state);

[[gnu::weak]] PyObject *PyType_FromSpec(PyType_Spec *spec);
[[gnu::weak]] PyObject *PyType_GenericAlloc(PyObject *type, ptrdiff_t items);
[[gnu::weak]] void *PyType_GetSlot(PyObject *type, int slot);
[[gnu::weak]] PyObject *PyObject_Type(PyObject *object);

[[gnu::weak]] PyObject *PyObject_GetAttr(PyObject *object, PyObject *name);
[[gnu::weak]] PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
[[gnu::weak]] PyObject *PyObject_CallFunction(PyObject *called, const char *format, ...);
[[gnu::weak]] PyObject *PyObject_CallMethod(PyObject *object, const char *name,
                                            const char *format, ...);
[[gnu::weak]] int PyArg_ParseTuple(PyObject *given, const char *format, ...);
[[gnu::weak]] PyObject *Py_BuildValue(const char *format, ...);

[[gnu::weak]] PyObject *PyList_New(ptrdiff_t count);
[[gnu::weak]] int PyList_SetItem(PyObject *list, ptrdiff_t place, PyObject *stolen);
[[gnu::weak]] ptrdiff_t PySequence_Size(PyObject *sequence);
[[gnu::weak]] PyObject *PySequence_GetItem(PyObject *sequence, ptrdiff_t place);

[[gnu::weak]] PyObject *PyBool_FromLong(long value);
[[gnu::weak]] PyObject *PyFloat_FromDouble(double value);
[[gnu::weak]] PyObject *PyLong_FromLongLong(long long value);
[[gnu::weak]] PyObject *PyLong_FromVoidPtr(void *pointer);
[[gnu::weak]] void *PyLong_AsVoidPtr(PyObject *number);
[[gnu::weak]] PyObject *PyUnicode_InternFromString(const char *text);
[[gnu::weak]] unsigned PyUnicode_ReadChar(PyObject *text, ptrdiff_t place);

[[gnu::weak]] PyObject *PyErr_NoMemory();
[[gnu::weak]] PyObject *PyErr_Occurred();
[[gnu::weak]] void PyErr_SetString(PyObject *kind, const char *problem);
[[gnu::weak]] extern PyObject *PyExc_TypeError;

}  // extern "C"

namespace brimstone {

// What the slots of a type are for, and what may be said of types and methods.
constexpr int CALLED = 50, DROPPED = 52, TOLD = 56, METHODS = 64, MADE = 65, GETTERS = 73,
              FREED = 74;
constexpr unsigned MAY_BE_DERIVED_FROM = 1u << 10;
constexpr int TAKES_NOTHING = 0x04, IS_STATIC = 0x20;

// An object that is held.
class Ref {
  public:
    explicit Ref(PyObject *held = nullptr) noexcept : object_(held) {}
    static Ref more(PyObject *object) noexcept {
        Py_IncRef(object);
        return Ref(object);
    }
    ~Ref() {
        if (object_) Py_DecRef(object_);
    }
    Ref(Ref &&other) noexcept : object_(other.give()) {}
    Ref &operator=(Ref &&other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }

    explicit operator bool() const noexcept { return object_; }
    PyObject *get() const noexcept { return object_; }
    PyObject *give() noexcept { return std::exchange(object_, nullptr); }

  private:
    PyObject *object_;
};

// What Python gives back that may run code of its own, or wait for its lock. When the process comes
// to its end, some versions of Python end a thread there that is not the main one, and unwind its
// stack, on which objects are held without the lock then. Such a thread sleeps here instead.
template <typename Call>
auto from_python(Call call) noexcept {
    try {
        return call();
    } catch (...) {
        for (;;) ::pause();
    }
}

// Other threads may have Python's lock meanwhile.
class Unlocked {
  public:
    Unlocked() noexcept : state_(PyEval_SaveThread()) {}
    ~Unlocked() {
        from_python([this] { PyEval_RestoreThread(state_); });
    }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

  private:
    PyThreadState *const state_;
};

// How many bytes of an object are Python's own; what it holds of the core's comes behind them.
inline size_t head = 0;

template <typename Payload>
Payload &in(PyObject *object) noexcept {
    return *reinterpret_cast<Payload *>(reinterpret_cast<char *>(object) + head);
}

template <typename Payload>
PyType_Spec spec_of(const char *name, unsigned flags, PyType_Slot *slots) noexcept {
    return {name, static_cast<int>(head + sizeof(Payload)), 0, flags, slots};
}

// Once an object has let go of all it held.
inline void free_object(PyObject *object) noexcept {
    const Ref type(PyObject_Type(object));
    reinterpret_cast<void (*)(PyObject *)>(PyType_GetSlot(type.get(), FREED))(object);
    Py_DecRef(type.get());  // which each object of it holds
}

}  // namespace brimstone
