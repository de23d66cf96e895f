"""Loaders: a dataset in batches, on a device, in an order that one seed decides.

Comes in: a dataset or a stream, and how its batches are made. Goes out: an epoch of batches each
time somebody iterates; and how far he is, from where another loader goes on.
Never: an order that depends on how many workers there are, or on which of them is done first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..frontend.errors import ArgumentError, expect_functions, fail
from .collate import stack
from .dataset import expect_count, is_dataset
from .epoch import Epoch, Position
from .fetch import Fetch
from .jobs import OfDataset, OfStream, sampler_of
from .samplers import Sampler
from .upload import place_of
from .workers import Workers


class Loader:
    """Batches of a dataset: each time it is iterated over, those of the next epoch.

    `dataset` has items at places; or it is a stream, an iterable that begins again for each epoch.
    `batch` is how many items a batch has; `drop_last` leaves out a last one with fewer.
    `shuffle` is another order in each epoch, which `seed` decides; of a stream, as far as `buffer`
    items reach. A `sampler` decides the order instead, and may make the batches.
    `collate` makes a batch of items. `augment` makes another item of each, given it and a generator
    of numpy's, which depends on the seed, the epoch, and where in it the item stands;
    `augment_batch` makes another batch of each, which takes less time than an item after the other.
    `workers` is how many processes make batches, or "threads": as many of these as cores.
    `prefetch` is how many batches wait on the device; with 0 and no workers, each is made when it
    is asked for.
    `device` is where batches are: by default the current one; "host" leaves them numpy's arrays.
    """

    def __init__(  # noqa: PLR0913 (each is a choice of the user's)
        self,
        dataset: Any,
        batch: int | None = None,
        *,
        shuffle: bool = False,
        sampler: Sampler | None = None,
        seed: int = 0,
        drop_last: bool = False,
        collate: Callable[[Sequence[Any]], Any] = stack,
        augment: Callable[[Any, Any], Any] | None = None,
        augment_batch: Callable[[Any, Any], Any] | None = None,
        workers: int | str = 0,
        prefetch: int = 2,
        buffer: int = 1024,
        device: Any = None,
    ) -> None:
        self.dataset, self.batch, self.device = dataset, batch, device
        self.seed = expect_count("Loader", "seed", seed)
        self.prefetch = expect_count("Loader", "prefetch", prefetch)
        expect_count("Loader", "buffer", buffer, least=1)
        expect_functions("Loader", collate, augment or collate, augment_batch or collate)
        place_of(device)  # one that is not there is refused now
        if is_dataset(dataset):
            order = sampler_of(len(dataset), sampler, shuffle, seed)
            self._jobs = OfDataset(order, batch, drop_last)
            fetch = Fetch(dataset, collate, augment, augment_batch, seed)
        elif sampler is None:
            self._jobs = OfStream(dataset, batch, drop_last, buffer, seed if shuffle else None)
            fetch = Fetch(None, collate, augment, augment_batch, seed)  # items come with the jobs
        else:
            fail(ArgumentError, "Loader", "a stream has no places, of which a sampler is an order")
        self._workers = Workers(fetch, workers)
        self._position = self._next = Position()

    def __len__(self) -> int:
        if isinstance(self._jobs, OfStream):
            raise TypeError("Loader: a stream shows at its end how many batches it has")
        return len(self._jobs.batches(0))

    def __iter__(self) -> Epoch:
        self._position, self._next = self._next, Position(self._next.epoch + 1)
        jobs = self._jobs(self._position.epoch, self._position.batch)
        return Epoch(jobs, self._workers, place_of(self.device), self.prefetch, self._position)

    def state(self) -> dict[str, Any]:
        """How far the last iteration is, for `restore` of another loader, or for JSON."""
        return {**asdict(self._position), **self._kind()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration begin with the batch that would have come after `state()`."""
        kind = self._kind()
        if set(state) != {"epoch", "batch", *kind}:
            fail(ArgumentError, "restore", "expected what `state()` returned", state)
        for name, value in kind.items():
            if state[name] != value:
                problem = f"{name} is {value!r} here, and was {state[name]!r}"
                fail(ArgumentError, "restore", problem)
        epoch, batch = (expect_count("restore", name, state[name]) for name in ("epoch", "batch"))
        self._position = self._next = Position(epoch, batch)

    def _kind(self) -> dict[str, Any]:
        """What must be the same where a state is restored."""
        items = len(self.dataset) if isinstance(self._jobs, OfDataset) else None
        return {"seed": self.seed, "size": self.batch, "items": items}
