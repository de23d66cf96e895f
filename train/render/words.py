"""Numbers as people read them.

Comes in: numbers. Goes out: short texts: four digits of a value, `1:05:09`, `12.3 MiB`, `45.6k`.
Never: a text that fails for NaN, or for what is not known, which is `?`.
"""

from __future__ import annotations

from collections.abc import Mapping

DAY, HOUR, MINUTE = 86400, 3600, 60
SMALL = 1e-3
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def value(number: float) -> str:
    """Four digits, which is what a person remembers; three and a power of ten of small ones."""
    if 0 < abs(number) < SMALL:
        digits, power = f"{number:.2e}".split("e")
        return f"{digits}e{int(power)}"
    return f"{number:.4g}"


def values(named: Mapping[str, float]) -> str:
    """Values with their names."""
    return "  ".join(f"{name} {value(number)}" for name, number in named.items())


def duration(seconds: float | None) -> str:
    """Hours, minutes and seconds; days too where it takes days."""
    if seconds is None:
        return "?"
    whole = round(seconds)
    hours, minutes, rest = whole % DAY // HOUR, whole % HOUR // MINUTE, whole % MINUTE
    if whole >= DAY:
        return f"{whole // DAY} d {hours}:{minutes:02}"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def count(number: float) -> str:
    """Three digits or four, with k, M or G."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= limit:
            return f"{number / (1e3 if letter == 'k' else limit):.1f}{letter}"
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"


def amount(size: float) -> str:
    """Bytes, in the unit that leaves at most four digits before the point."""
    power = 0
    while size >= 1024 and power < len(UNITS) - 1:
        size, power = size / 1024, power + 1
    return f"{size:.1f} {UNITS[power]}" if power else f"{size:.0f} B"


def many(number: int, what: str) -> str:
    """So many things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def place(done: int, of: int | None) -> str:
    """How many are done, of how many."""
    return f"{done:,}/{of:,}" if of is not None else f"{done:,}"
