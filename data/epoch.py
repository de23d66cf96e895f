"""An epoch: the batches of a loader, one after the other.

Comes in: jobs, workers, a device, how far ahead batches are made. Goes out: batches on the device,
in the order of the jobs.
Never: a worker that goes on when nobody takes batches any more; a batch kept that was taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ..frontend.errors import OperationFailed, failure
from .ahead import Ahead
from .fetch import Job, Unmade
from .upload import uploaded
from .workers import Maker, Workers, end

if TYPE_CHECKING:
    from ..runtime.device import Device


@dataclass
class Position:
    """A place in the sequence of all batches: an epoch, and how many of its batches were taken."""

    epoch: int = 0
    batch: int = 0


class Epoch:
    """An iterator over batches; it moves a position, and ends its workers if it is left early."""

    def __init__(
        self, jobs: Iterator[Job], workers: Workers, device: Device | None,
        prefetch: int, position: Position,
    ) -> None:  # fmt: skip
        self._workers, self._position = workers, position
        self._busy = workers.take()
        makers = [partial(_made, maker, device) for maker in self._busy]
        self._ahead = None
        if prefetch or len(makers) > 1:
            self._ahead = Ahead(jobs, makers, max(prefetch, 1) + len(makers) - 1)
        self._batches = self._ahead or map(makers[0], jobs)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            batch = next(self._batches)
        except StopIteration:
            self._finish()
            raise
        except Unmade as unmade:
            self.close()
            _tell(unmade)
        except BaseException:
            self.close()
            raise
        self._position.batch += 1
        return batch

    def close(self) -> None:
        """Make no more batches; what workers are doing is lost."""
        self._batches = iter(())
        if self._ahead is not None:
            self._ahead.close()
        end(self._busy)
        self._busy = ()

    def __del__(self) -> None:
        if hasattr(self, "_batches"):  # it was begun
            self.close()

    def _finish(self) -> None:
        """All batches were taken."""
        if self._busy:
            self._position.epoch, self._position.batch = self._position.epoch + 1, 0
            self._workers.give_back(self._busy)
            self._busy = ()


def _made(maker: Maker, device: Device | None, job: Job) -> Any:
    return uploaded(maker(job), device)


def _tell(unmade: Unmade) -> NoReturn:
    """Raise what the user is told; what only a worker has seen stands in the message."""
    notes = () if unmade.__cause__ else unmade.trace.splitlines()
    problem = f"{unmade.what}: {unmade.problem}"
    raise failure(OperationFailed, "Loader", problem, notes=notes) from unmade.__cause__
