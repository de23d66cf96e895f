#include "dealer.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "brimstone.h"
#include "door.hpp"
#include "gone.hpp"
#include "held.hpp"

namespace brimstone {
namespace {

using Pieces = std::vector<brimstone_arrays *>;

// What one of those is told who get something dealt.
struct Part {
    Ref forms;
    int64_t bytes;
};

struct Dealer {
    brimstone_program *program = nullptr;
    bool may_replace = false;
    Ref streams, address;  // of the stream of this thread: where it is, and under which name
    Ref insist;            // what Python does if the core takes no call
    Ref type;              // of what holds arrays
    std::vector<Part> parts;
    std::vector<int64_t> counts;  // of each part
};

// What a call is given, and holds: nobody is to drop it meanwhile.
class Given {
  public:
    explicit Given(PyObject *type) noexcept : type_(type) {}

    // Whether all are arrays, or sequences of some; if not, Python has raised an error.
    bool take_all(PyObject *sequence, bool are_all_arrays = false) {
        const ptrdiff_t count = PySequence_Size(sequence);
        for (ptrdiff_t place = 0; place < count; ++place) {
            Ref piece(PySequence_GetItem(sequence, place));
            if (!piece) return false;
            if (Ref(PyObject_Type(piece.get())).get() == type_) {
                pieces.push_back(arrays_in(piece.get()));
                held_.push_back(std::move(piece));
            } else if (are_all_arrays) {
                PyErr_SetString(PyExc_TypeError, "a piece is arrays, or a sequence of some");
                return false;
            } else if (!take_all(piece.get(), true)) {
                return false;
            }
        }
        return count >= 0;
    }
    bool has_one_twice() const {
        Pieces sorted = pieces;
        std::ranges::sort(sorted);
        return std::ranges::adjacent_find(sorted) != sorted.end();
    }

    Pieces pieces;

  private:
    PyObject *const type_;
    std::vector<Ref> held_;
};

// Those who get what was dealt, in a list.
PyObject *list_of(const Dealer &dealer, const Pieces &dealt) noexcept {
    Ref list(PyList_New(static_cast<ptrdiff_t>(dealt.size())));
    bool are_made = static_cast<bool>(list);
    for (size_t i = 0; i < dealt.size(); ++i) {
        const Part &part = dealer.parts[i];
        Ref made(hold_in(dealer.type.get(), dealt[i], part.forms.get(), part.bytes));
        are_made = are_made && made;
        if (list) PyList_SetItem(list.get(), static_cast<ptrdiff_t>(i), made.give());
    }
    return are_made ? list.give() : nullptr;
}

// Other threads may have Python's lock until this one comes back.
int32_t unlocked(auto ask) {
    const Unlocked unlocked;
    const Visit visit;
    return ask();
}

PyObject *deal_anew(PyObject *self, PyObject *given) {
    const Dealer &dealer = *in<std::unique_ptr<Dealer>>(self);
    Given taken(dealer.type.get());
    if (!taken.take_all(given)) return nullptr;
    const auto own = [&] { return PyObject_GetAttr(dealer.streams.get(), dealer.address.get()); };
    const Ref address(from_python(own));
    if (!address) return nullptr;
    auto *stream = static_cast<brimstone_stream *>(PyLong_AsVoidPtr(address.get()));
    const auto count = static_cast<int64_t>(taken.pieces.size());
    const bool replaces = dealer.may_replace && !taken.has_one_twice();  // which is still read
    const brimstone_deal deal = {dealer.counts.data(), static_cast<int64_t>(dealer.counts.size())};
    Pieces dealt(dealer.counts.size());
    const auto gone = static_cast<int64_t>(take_gone(taken.pieces));
    const bool is_put_off = brimstone_puts_off(stream, dealer.program);
    const auto ask = [&] {
        return brimstone_call(stream, dealer.program, taken.pieces.data(), gone, count, replaces,
                              is_put_off, &deal, dealt.data());
    };
    const int32_t outcome = is_put_off ? ask() : unlocked(ask);
    if (outcome == BRIMSTONE_DONE) return list_of(dealer, dealt);
    return from_python(
        [&] { return PyObject_CallFunction(dealer.insist.get(), "OiO", self, outcome, given); });
}

PyObject *call(PyObject *self, PyObject *given, PyObject *) noexcept {
    try {
        return deal_anew(self, given);
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
}

// Whether each part is the forms of its arrays, and how many bytes they have.
bool take_parts(Dealer &dealer, PyObject *parts) {
    const ptrdiff_t count = PySequence_Size(parts);
    for (ptrdiff_t place = 0; place < count; ++place) {
        const Ref part(PySequence_GetItem(parts, place));
        PyObject *forms = nullptr;
        long long bytes = 0;
        if (!part || !PyArg_ParseTuple(part.get(), "OL", &forms, &bytes)) return false;
        dealer.parts.push_back({Ref::more(forms), bytes});
        dealer.counts.push_back(PySequence_Size(forms));
    }
    return count >= 0;
}

// Dealer(program, may_replace, streams, insist, type, parts)
PyObject *make(PyObject *type, PyObject *given, PyObject *) noexcept {
    unsigned long long program = 0;
    int may_replace = 0;
    PyObject *streams = nullptr, *insist = nullptr, *held = nullptr, *parts = nullptr;
    if (!PyArg_ParseTuple(given, "KpOOOO", &program, &may_replace, &streams, &insist, &held,
                          &parts))
        return nullptr;
    try {
        auto dealer = std::make_unique<Dealer>();
        dealer->program = reinterpret_cast<brimstone_program *>(program);
        dealer->may_replace = may_replace != 0;
        dealer->streams = Ref::more(streams);
        dealer->address = Ref(PyUnicode_InternFromString("address"));
        dealer->insist = Ref::more(insist);
        dealer->type = Ref::more(held);
        if (!dealer->address || !take_parts(*dealer, parts)) return nullptr;
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made) new (&in<std::unique_ptr<Dealer>>(made)) std::unique_ptr(std::move(dealer));
        return made;
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
}

void end(PyObject *self) noexcept {
    const std::unique_ptr<Dealer> dealer = std::move(in<std::unique_ptr<Dealer>>(self));
    free_object(self);
}

PyType_Slot slots[] = {
    {TOLD, const_cast<char *>("A program, called with pieces: "
                              "Dealer(program, may_replace, streams, insist, type, parts).")},
    {MADE, reinterpret_cast<void *>(make)},
    {DROPPED, reinterpret_cast<void *>(end)},
    {CALLED, reinterpret_cast<void *>(call)},
    {},
};

}  // namespace

PyObject *new_dealer_type() noexcept {
    const char *name = "brimstone.runtime.native.Dealer";
    PyType_Spec spec = spec_of<std::unique_ptr<Dealer>>(name, 0, slots);
    return PyType_FromSpec(&spec);
}

}  // namespace brimstone
