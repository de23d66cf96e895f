"""The lock of kernels: a refactor changes no kernel, and a change to one says why."""

from pathlib import Path

from kit.lock import lines

LOCK = Path(__file__).parent / "kernels.lock"
ADVICE = (
    "these kernels are written otherwise than before. If that is meant, run "
    "`python -m kit.lock > kernels.lock` in tests/ and say why where the change is described:\n"
)


def test_kernels_are_written_as_before() -> None:
    """The text of each kernel of the corpus, for named machines and for Triton."""
    kept = LOCK.read_text().splitlines()
    written = [*lines()]
    changed = [line for line in written if line not in kept]
    assert not changed, ADVICE + "\n".join(changed)
    assert written == kept
