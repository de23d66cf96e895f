"""Steps on several devices: each computes the gradients of a part of the batch.

Comes in: how a step is made, and devices. Goes out: steps that do as one device does, up to the
order of sums: the first device has the state, makes one of what all of them gave, and updates the
parameters, of which the others get copies.
Never: a device that waits for another one before its own part is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..frontend.errors import ArgumentError, described, fail
from ..frontend.explanation import Explanation
from ..frontend.functions.creation import as_device
from ..frontend.functions.keys import fold_in
from ..frontend.functions.manipulation import concat
from ..frontend.jit import Jitted, jit
from ..frontend.tensor import Tensor
from ..frontend.tree import tree_map
from ..runtime.device import Device
from ..targets import Memory
from .budget import Steps
from .measures import items_of
from .optimisers.optimiser import widened
from .state import State
from .step import Recipe, Report, Share


def spread(recipe: Recipe, devices: Sequence[Device]) -> Steps:
    """The steps of a recipe on several devices, the first of which has the state."""
    share = jit(recipe.share)
    return Steps(Spread(devices, share, recipe.update), Spread(devices, share, recipe.add))


class Spread:
    """A step that computes shares of a batch, one on each device, and ends with what they gave."""

    def __init__(self, devices: Sequence[Device], share: Jitted, end: Any) -> None:
        self.devices, self._share = devices, share
        self._end = jit(partial(_ended, end), donate=(0,))

    def __call__(self, state: State, batch: Any) -> tuple[State, Report]:
        """One batch."""
        first, *others = parts = _parts(batch, self.devices)
        asked = [
            self._share(_copied(state, self.devices[number], number), part)
            for number, part in enumerate(others, 1)
        ]
        own, model = self._share(state, first)
        shares = [own, *[moved(share, self.devices[0]) for share, _ in asked]]
        items = [items_of(part) for part in parts]
        weights = [each / max(sum(items), 1) for each in items]
        return self._end(state, model, shares, weights)

    def explain(self, state: State, batch: Any) -> Explanation:
        """What the first device does with its part."""
        return self._share.explain(state, _parts(batch, self.devices)[0])

    def memory(self, state: State, batch: Any) -> Memory | None:
        """What the first device needs for its part."""
        return self._share.memory(state, _parts(batch, self.devices)[0])


def known_devices(names: Sequence[str | Device]) -> tuple[Device, ...]:
    """The devices of these names, each once."""
    found: list[Device] = []
    for name in names:
        device = as_device(name, "Learner")
        assert device is not None
        if device in found:
            fail(ArgumentError, "Learner", f"{device} is named twice among the devices")
        found.append(device)
    return tuple(found)


def moved(tree: Any, device: Device) -> Any:
    """A tree with its tensors on a device."""
    return tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, Tensor) else leaf, tree)


def _copied(state: State, device: Device, number: int) -> State:
    """What a device needs of the state; its randomness is its own."""
    key = fold_in(state.key, number)
    needed = State(state.model, None, key, state.step, state.failed, None, state.scale)
    return moved(needed, device)


def _parts(batch: Any, devices: Sequence[Device]) -> list[Any]:
    """As equal parts of a batch as there can be, each on its device: what has as many items as the
    batch along its first axis is cut, everything else is for all. None is empty but the first."""
    items, count = items_of(batch), len(devices)
    bounds = [-(-items * number // count) for number in range(count + 1)]
    taken = [each for each in range(count) if bounds[each + 1] > bounds[each]] or [0]
    return [_part(batch, items, bounds[each], bounds[each + 1], devices[each]) for each in taken]


def _part(batch: Any, items: int, begin: int, end: int, device: Device) -> Any:
    def cut(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        own = leaf[begin:end] if leaf.shape and leaf.shape[0] == items else leaf
        return own.to(device)

    return tree_map(cut, batch)


def _ended(end: Any, state: State, model: Any, shares: list[Share], weights: list[float]) -> Any:
    """What the recipe makes of all shares together."""
    return end(state, _together(shares, weights), model)


def _together(shares: Sequence[Share], weights: Sequence[float]) -> Share:
    """Averages by weight, and all outputs one after the other."""

    def mean(*each: Any) -> Any:
        pairs = zip(each, weights, strict=True)
        first, *others = [widened(one) * weight for one, weight in pairs]
        return sum(others, start=first).astype(each[0].dtype)

    def joined(*each: Any) -> Any:
        if not each[0].shape:
            hint = "outputs with one item for each of the batch's can be"
            fail(
                ArgumentError, "Learner", "outputs of several devices cannot be put together",
                described(each[0]), hint=hint,
            )  # fmt: skip
        return concat([*each])

    found = shares[0].outputs is not None
    return Share(
        tree_map(mean, *[each.loss for each in shares]),
        tree_map(mean, *[each.gradients for each in shares]),
        tree_map(mean, *[dict(each.values) for each in shares]),
        tree_map(joined, *[each.outputs for each in shares]) if found else None,
    )
