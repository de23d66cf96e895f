"""What the native core has, as cffi reads it at once: the header, parsed when it changes.

    python -m kit.declared > ../runtime/declared.py

in the folder `tests` writes it anew. To parse the header in every process would take longer than
everything else that has to happen before the first kernel runs.
"""

from hashlib import sha256
from io import StringIO
from pathlib import Path

from cffi import FFI
from cffi.recompiler import Recompiler

from brimstone.runtime import native

HEADER = Path(native.__file__).with_name("native") / "brimstone.h"
HEAD = '''"""What `native/brimstone.h` declares, in the form that cffi loads without parsing it.

`python -m kit.declared`, in the folder `tests`, writes this file; the header's hash: {hash}.
"""

'''


def hash_of_header() -> str:
    """What tells a header from others."""
    return sha256(HEADER.read_bytes()).hexdigest()[:16]


def declarations(header: str) -> str:
    """The part of a C header that cffi can parse: no preprocessor lines, no export macro."""
    lines = [line for line in header.splitlines() if not line.startswith("#")]
    return "\n".join(lines).replace("BRIMSTONE_API ", "")


def declared() -> str:
    """The text of the module."""
    parsed = FFI()
    parsed.cdef(declarations(HEADER.read_text()))
    parsed.set_source("brimstone.runtime.declared", None)
    compiler = Recompiler(parsed, "brimstone.runtime.declared", target_is_python=True)
    compiler.collect_type_table()
    compiler.collect_step_tables()
    text = StringIO()
    compiler.write_py_source_to_f(text)
    _, _, code = text.getvalue().partition("\n")
    return HEAD.format(hash=hash_of_header()) + code


if __name__ == "__main__":
    print(declared(), end="")
