"""Devices, memory, streams and compiled steps, over the native core in `native/`.

Handed on from here: the native core's version and clock. Importing this package loads neither cffi
nor the native library; the first call does.
"""

__all__ = ["clock", "version"]


def version() -> str:
    """The version that the native core was built as."""
    from .native import core, ffi

    text = ffi.string(core().brimstone_version())
    assert isinstance(text, bytes)
    return text.decode()


def clock() -> int:
    """Nanoseconds on a clock that never goes back; only differences have a meaning."""
    from .native import core

    return core().brimstone_clock()
