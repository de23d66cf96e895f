"""What Python knows of the native core is what the header says."""

from brimstone.runtime import declared
from brimstone.runtime.native import Core, core
from kit.declared import hash_of_header


def test_the_header_has_not_changed_since() -> None:
    assert declared.__doc__ is not None
    assert hash_of_header() in declared.__doc__, "python -m kit.declared > ../runtime/declared.py"


def test_every_function_is_there() -> None:
    names = [name for name in vars(Core) if name.startswith("brimstone_")]
    assert names
    assert all(callable(getattr(core(), name)) for name in names)
