"""What the host of a CPU does: launches of machine code, copies, fills, in one call for a step.

Comes in: what is to be done, with sizes known, and arrays. Goes out: arrays, which may still have
to be computed.
Never: Python in between.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from math import prod
from typing import Any, NamedTuple, Protocol, overload

from ..ir.errors import IRError
from ..ir.payloads import Array
from .tape import Tape

ALIGNMENT = 64
"""Memory of the host begins at multiples of so many bytes, as lines of caches do."""


class Launch(NamedTuple):
    """One launch of machine code, in so many chunks of programs along an axis of its grid, with
    `slot_count` slots from number `slot` on. `scratch` says where in a `room` of so many bytes
    begins what further slots, behind these, stand for."""

    code: int
    slot: int
    slot_count: int
    grid: tuple[int, int, int]
    axis: int = 0
    chunks: int = 1
    scratch: tuple[int, ...] = ()
    room: int = 0


class Kind(IntEnum):
    """What an action does: `SHARE` and `ALONE` run launches at once, on all threads or on one;
    `COPY` copies bytes, `FILL` repeats an element, `INSIDE` fails where an index names no place,
    `STORE` copies the bytes of a slot.

    The others say what is done after them: of `LOOP` and `NEXT` a loop, as it begins and as a round
    is over, of `UNLESS` a byte, which may be 0; `JUMP` says so itself."""

    SHARE, ALONE, COPY, FILL, INSIDE, STORE, LOOP, NEXT, UNLESS, JUMP = range(10)


class Act(NamedTuple):
    """An action on so many launches from number `first` on, of `size` 0 if they take little time;
    or on so many bytes to be copied, elements of `size` bytes to be filled, or indices, whose
    address is in slot `first`. The next slots have the address to copy from, or the element, or
    what the indices are.

    Or an action after which the next one is so many further, or back: `first` is the number of a
    loop, or a slot with the address of a byte, and `size` how much work a round is that is over."""

    kind: Kind
    first: int
    number: int
    size: int = 0


Place = tuple[int, int, int]
"""A slot that holds an address: the slot, the number of the address, and how many bytes behind it.
There are hundreds, and a tuple with names takes five times as long to make."""


class Move(NamedTuple):
    """A slot that follows the index of a loop: what is in slot `origin`, and `stride` more for each
    step of the index."""

    slot: int
    origin: int
    stride: int


class Loop(NamedTuple):
    """A loop whose index is kept in a slot: from `begin` on, each time `step` more, until it would
    be `end`. As each round begins, so many moves are made, from number `first` on."""

    slot: int
    begin: int
    end: int
    step: int
    first: int
    number: int


class Said(NamedTuple):
    """What an action is called, which lines of the user it comes from, and how many bytes it reads
    and writes."""

    name: str
    lines: str
    bytes: int


class Failure(NamedTuple):
    """An action that could not be done; and where an index named no place, which of all it was, and
    its bits."""

    action: int
    place: int
    bits: int


class About(Protocol):
    """What there is to say of a script to those who ask later."""

    name: str

    @property
    def numbers(self) -> Sequence[int]:
        """All numbers that it will say, in some order."""
        ...

    def with_numbers(self, numbers: Sequence[int]) -> "About":
        """The same of a script with others."""
        ...

    def said(self, action: int) -> Said:
        """What an action is."""
        ...

    def failed(self, failure: Failure) -> Exception:
        """The error where an action had no memory, or an index named no place."""
        ...


class Script(NamedTuple):
    """What is done in one call, in order; launches and loops are those of the actions, and moves
    those of the loops."""

    places: list[Place]
    launches: list[Launch]
    actions: list[Act]
    about: About | None = None
    loops: Sequence[Loop] = ()
    moves: Sequence[Move] = ()


class Number(NamedTuple):
    """A slot that holds a number of so many bytes: the one that lies at the address."""

    slot: int
    address: int
    size: int


class Form(NamedTuple):
    """What an array is but for its contents: its shape, and its numpy dtype."""

    shape: tuple[int, ...]
    storage: Any

    @property
    def size(self) -> int:
        """Its bytes."""
        return prod(self.shape) * self.storage.itemsize


class Result(NamedTuple):
    """An array that is given back: from an offset on in that of this number, or if `whole` that one
    itself."""

    address: int
    offset: int
    form: Form
    whole: bool


class Plan(NamedTuple):
    """A step in one call. Address 0 is that of an `arena` of so many bytes, for as long as it runs;
    then come those of `inputs` arrays, and of those that it makes, which have so many bytes each.
    Inputs that are `replaced` are written to; in results they count as made, after the others.

    `work` says how much there is to do, as bytes that are read and written; `held` is what must be
    there as long as the plan, its code above all.
    """

    script: Script
    slots: list[int]
    numbers: list[Number]
    inputs: int
    made: list[int]
    replaced: list[int]
    results: list[Result]
    arena: int
    work: int
    held: Any


class NoMemory(MemoryError):
    """There is no memory for so many bytes."""

    def __init__(self, bytes: int) -> None:
        super().__init__(f"there is no memory for {bytes} bytes")
        self.bytes = bytes


class Donated(RuntimeError):
    """An array was donated, and another one is made in its memory."""

    def __init__(self) -> None:
        super().__init__("the array was donated, and its memory is another's now")


class Arrays(Protocol):
    """Arrays that are held together; a slice is such a thing too, and so is each of them."""

    forms: tuple[Form, ...]

    def __len__(self) -> int: ...

    @overload
    def __getitem__(self, place: int) -> "Arrays": ...

    @overload
    def __getitem__(self, place: slice) -> "Arrays": ...

    def __iter__(self) -> Iterator["Arrays"]: ...

    def addresses(self) -> list[int]:
        """Where the memory of each begins, computed or not."""
        ...

    def array(self) -> Array:
        """The contents, which nobody may change, of one that is alone, when it is computed."""
        ...

    def number(self) -> Any:
        """The only element of one that is alone, as Python has it, when it is computed."""
        ...

    def wait(self) -> None:
        """Return when all are computed; an error says why one could not be."""
        ...


Dealer = Callable[..., list[Any]]
"""Called with pieces, one by one: a list of those that are made of them."""


class Call(Protocol):
    """A plan that can be called."""

    def __call__(
        self, pieces: Sequence[Sequence[Arrays]], counts: tuple[int, ...] | None = None
    ) -> Any:
        """From the arrays that the plan is given, in pieces, to those that it makes, held together;
        with `counts`, a list of pieces that have so many each. At once where there is little to do,
        else while this thread goes on."""
        ...

    def dealer(self, counts: tuple[int, ...]) -> Dealer:
        """The same for who calls often, and wants pieces that have so many each every time."""
        ...


class Pattern(Protocol):
    """A plan for all numbers of which the same holds."""

    def at(self, given: Sequence[int]) -> Call | None:
        """What does it where the numbers that are given are these; None if something else holds of
        them."""
        ...


class Host(Protocol):
    """The threads and the memory that kernels use."""

    count: int
    """How many threads."""

    def prepared(self, script: Script) -> Callable[[Array, Array], Callable[[int], int]]:
        """From addresses and slots, which may change in between, to what does a script with them,
        from an action on: it returns the action to go on with after a look at signals; an error
        says which could not be done."""
        ...

    def pattern(self, plan: Plan, tape: Tape) -> Pattern:
        """What does a plan whose numbers are on a tape, where those that are given are others."""
        ...

    def pack(self, alive: Iterable[tuple[int, int, int]]) -> tuple[list[int], int]:
        """Where to put arrays, of which each is alive from one position to another one and has so
        many bytes; and how many bytes that takes."""
        ...

    def claim(self, bytes: int) -> None:
        """Fail where so many bytes of memory are not there."""
        ...

    def empty(self, shape: tuple[int, ...], storage: Any) -> Array:
        """An array whose contents nobody knows; its memory goes back when it dies."""
        ...

    def made(self, form: Form, shown: Form) -> tuple[Arrays, Array]:
        """An array of this form, whose contents nobody knows; and its memory, to write them, as an
        array of another form."""
        ...

    def copied(self, array: Array, storage: Any) -> Arrays:
        """A copy of a host array, row-major and aligned, of this dtype."""
        ...

    def borrowed(self, array: Array) -> Arrays:
        """A host array, row-major and aligned, that nobody will change."""
        ...

    def failed(
        self, forms: Iterable[Form], error: IRError, handled: BaseException | None
    ) -> tuple[Arrays, ...]:
        """Arrays that could not be computed; who waits for one, or reads it, is told the error,
        which was raised while another one was handled."""
        ...

    def are_sound(self, pieces: Sequence[Arrays]) -> bool:
        """Whether all are computed, or are to be in turn with what this thread asks for: none has
        failed, as far as is known, or is another thread's. Nobody is waited for."""
        ...

    def joined(self, pieces: Sequence[Arrays]) -> Arrays:
        """All arrays of some pieces, held together."""
        ...

    def wait(self) -> None:
        """Return when all that this thread asked for is done."""
        ...
