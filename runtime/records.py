"""Scripts and plans as the records that the core reads, word by word.

Comes in: a `Script` or a `Plan`, whose numbers may be traced. Goes out: `Words` of eight bytes, the
record first and behind it the lists that it leads to; or memory with them, where no number is
traced.
Never: an address that is known before the words have their place.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from ..targets.script import Kind, Plan, Result, Script
from .native import ffi

SCRIPT, LAUNCH, PLAN = 8, 12, 21
"""How many words the records have, as `native/brimstone.h` declares them. A script leads to places,
actions, launches, loops and moves; counts of the first two follow, and its number. A plan begins as
a script does; then it leads to slots, numbers, made, results and replaced; their counts follow,
with that of inputs among them, the arena, and the work."""
NUMBER = 7
"""Which of the words is a script's number."""
NOTHING = 0
"""An address that leads nowhere."""
_LAUNCHES = Kind.SHARE, Kind.ALONE
_HIGHEST = 1 << 63


class Words:
    """Words, of which some are `pointers`: they are the number of another one until that has its
    place."""

    def __init__(self, record: int) -> None:
        self.words: list[int] = [0] * record
        self.pointers = list[int]()

    def lead(self, word: int, place: int) -> None:
        """Let a word lead to another one."""
        self.words[word] = place
        self.pointers.append(word)

    def add(self, words: Iterable[int]) -> int:
        """Words behind all others; the place of the first."""
        place = len(self.words)
        self.words += words
        return place

    def rows(self, rows: Iterable[Iterable[int]]) -> int:
        """The same, of records one after the other."""
        return self.add(chain.from_iterable(rows))

    def settled(self) -> Any:
        """Memory with these words, none of which is traced."""
        memory: Any = ffi.new("int64_t[]", self.words)
        begin = int(ffi.cast("intptr_t", memory))
        for word in self.pointers:
            memory[word] = begin + 8 * memory[word]
        return memory


def script_words(script: Script) -> Words:
    """Those of a script alone."""
    words = Words(SCRIPT)
    _put_script(words, script)
    return words


def plan_words(plan: Plan) -> Words:
    """Those of a plan."""
    words = Words(PLAN)
    _put_script(words, plan.script)
    lists = (
        words.add([_signed(slot) for slot in plan.slots]),
        words.rows(plan.numbers),
        words.add(plan.made),
        words.rows([_result(each) for each in plan.results]),
        words.add(plan.replaced),
    )
    for word, place in enumerate(lists, SCRIPT):
        words.lead(word, place)
    slots, numbers, *others = plan.slots, plan.numbers, plan.made, plan.results, plan.replaced
    counts = (len(slots), len(numbers), plan.inputs, *map(len, others))
    words.words[SCRIPT + len(lists) : PLAN] = [*counts, plan.arena, plan.work]
    return words


def _put_script(words: Words, script: Script) -> None:
    """Its lists, and the record of them in the first words; its number is for others to set."""
    launches = words.rows(_launches(script))
    lists = (
        words.rows(script.places),
        words.rows(script.actions),
        launches,
        words.rows(script.loops),
        words.rows(script.moves),
    )
    for word, place in enumerate(lists):
        words.lead(word, place)
    words.words[len(lists) : NUMBER] = [len(script.places), len(script.actions)]
    for number, launch in enumerate(script.launches):
        if launch.scratch:
            words.lead(launches + number * LAUNCH + 1, words.add(launch.scratch))


def _launches(script: Script) -> Iterable[Sequence[int]]:
    """Each as the core has it, which counts its chunks from a first one on."""
    for launch, first in zip(script.launches, _firsts(script), strict=True):
        code, slot, slot_count, grid, axis, chunks, scratch, room = launch
        yield code, NOTHING, len(scratch), room, slot, slot_count, *grid, axis, chunks, first


def _firsts(script: Script) -> list[int]:
    """The number of the first chunk of each launch, among those of all that are run at once."""
    firsts = [0] * len(script.launches)
    for kind, first, number, _ in script.actions:
        if kind in _LAUNCHES:
            for each in range(first + 1, first + number):
                firsts[each] = firsts[each - 1] + script.launches[each - 1].chunks
    return firsts


def _result(result: Result) -> tuple[int, int, int, int]:
    return result.address, result.offset, result.form.size, result.whole


def _signed(slot: int) -> int:
    """The bits of a slot as a word, which has a sign; what is traced is no such number."""
    return slot - 2 * _HIGHEST if slot.__class__ is int and slot >= _HIGHEST else slot
