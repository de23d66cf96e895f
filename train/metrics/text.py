"""Metrics of texts: how much must be changed, what they have in common.

Comes in: texts, which are taken apart at white space, or sequences of tokens. Goes out: rates.
Never: a tokeniser, or a change of case; who wants one calls it before.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...frontend.errors import ArgumentError, fail
from ..checks import expect_positive, expect_whole
from .metric import Array, Totals, ratio

Text = str | Sequence[Any]


def edit_distance(found: Sequence[Any], known: Sequence[Any]) -> int:
    """How many elements must be put in, left out or replaced to make one of the other."""
    row = list(range(len(known) + 1))
    for count, element in enumerate(found, 1):
        above, row[0] = row[0], count
        for place, other in enumerate(known, 1):
            replaced = above + (element != other)
            above, row[place] = row[place], min(replaced, row[place] + 1, row[place - 1] + 1)
    return row[-1]


def common_length(found: Sequence[Any], known: Sequence[Any]) -> int:
    """The length of the longest sequence that is left of both when elements are left out."""
    row = [0] * (len(known) + 1)
    for element in found:
        before = 0
        for place, other in enumerate(known, 1):
            above = row[place]
            row[place] = before + 1 if element == other else max(above, row[place - 1])
            before = above
    return row[-1]


@dataclass
class WordErrorRate(Totals):
    """WER: how many words must be changed, for each word of the targets."""

    def count(self, outputs: Sequence[Text], targets: Sequence[Text]) -> tuple[int, int]:
        """How many changes, and how many words."""
        pairs = [(self.parts(a), self.parts(b)) for a, b in _pairs(self.name, outputs, targets)]
        return sum(edit_distance(*pair) for pair in pairs), sum(len(known) for _, known in pairs)

    def parts(self, text: Text) -> Sequence[Any]:
        """What is counted."""
        return tokens(text)

    def result(self, totals: Array) -> Any:
        """Changes for each word."""
        return ratio(*totals)


@dataclass
class CharacterErrorRate(WordErrorRate):
    """CER: how many characters must be changed, for each character of the targets."""

    def parts(self, text: Text) -> Sequence[Any]:
        """What is counted."""
        return text


@dataclass
class BLEU(Totals):
    """The share of runs of 1 to `order` words that a reference has too (Papineni et al., 2002).

    The geometric mean over lengths, times a penalty for what is shorter than its references; each
    target is a text or a list of texts. With `smooth`, one is added to the counts of all lengths
    above 1 (Lin and Och, 2004).
    """

    order: int = 4
    smooth: bool = False

    def __post_init__(self) -> None:
        expect_whole(self, 1, order=self.order)
        super().__post_init__()

    def count(self, outputs: Sequence[Text], targets: Sequence[Any]) -> Array:
        """Both lengths; for each length of runs those that are right, and all."""
        counts = np.zeros(2 + 2 * self.order)
        for output, target in _pairs(self.name, outputs, targets):
            found, known = tokens(output), [tokens(each) for each in _references(target)]
            nearest = min((abs(len(each) - len(found)), len(each)) for each in known)[1]
            counts[:2] += len(found), nearest
            for length in range(1, self.order + 1):
                counts[2 * length : 2 * length + 2] += _shared_runs(found, known, length)
        return counts

    def result(self, totals: Array) -> Any:
        """The penalty times the mean share."""
        found, known, *runs = totals
        right, every = np.array(runs[::2]), np.array(runs[1::2])
        if self.smooth:
            right[1:], every[1:] = right[1:] + 1, every[1:] + 1
        if found == 0 or (right == 0).any():
            return 0.0 if known else float("nan")
        penalty = min(0.0, 1.0 - known / found)
        return np.exp(penalty + np.log(right / every).mean())


@dataclass
class RougeL(Totals):
    """The mean, over texts, of how much of both is the longest common sequence (Lin, 2004).

    The harmonic mean of its shares of the output and of the target, where the second counts `beta`
    times as much; of several references, the best.
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        expect_positive(self, beta=self.beta)
        super().__post_init__()

    def count(self, outputs: Sequence[Text], targets: Sequence[Any]) -> tuple[float, int]:
        """The sum over texts, and how many there are."""
        total, count = 0.0, 0
        for output, target in _pairs(self.name, outputs, targets):
            total += max(self._score(tokens(output), tokens(each)) for each in _references(target))
            count += 1
        return total, count

    def _score(self, found: Sequence[Any], known: Sequence[Any]) -> float:
        square = self.beta**2
        common = (1.0 + square) * common_length(found, known)
        return float(ratio(common, len(found) + square * len(known), 0.0))

    def result(self, totals: Array) -> Any:
        """The mean."""
        return ratio(*totals)


def tokens(text: Text) -> Sequence[Any]:
    """The words of a text; tokens as they are."""
    return text.split() if isinstance(text, str) else list(text)


def _references(target: Any) -> list[Any]:
    """One text, or several: a list whose elements are texts themselves."""
    if isinstance(target, str) or not target or not isinstance(target[0], str | list | tuple):
        return [target]
    return list(target)


def _pairs(operation: str, outputs: Any, targets: Any) -> list[tuple[Any, Any]]:
    """Outputs with their targets."""
    if isinstance(outputs, str) or isinstance(targets, str):
        hint = "give lists, also of one text"
        fail(ArgumentError, operation, "expected lists of texts, got a text", hint=hint)
    if len(outputs) != len(targets):
        problem = f"there are {len(outputs)} outputs and {len(targets)} targets"
        fail(ArgumentError, operation, problem)
    return list(zip(outputs, targets, strict=True))


def _shared_runs(found: Sequence[Any], known: list[Any], length: int) -> tuple[int, int]:
    """How many runs of a length are in a reference too, as often as in one of these; and all."""
    mine = _runs(found, length)
    most: Counter[Any] = Counter()
    for each in known:
        most |= _runs(each, length)
    return (mine & most).total(), mine.total()


def _runs(words: Sequence[Any], length: int) -> "Counter[Any]":
    starts = range(len(words) - length + 1)
    return Counter(tuple(words[start : start + length]) for start in starts)
