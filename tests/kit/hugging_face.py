"""The examples that load models of Hugging Face's layouts, as modules.

Comes in: a name. Goes out: the module; these import each other, as they do when they are run.
Never: a package that is not needed to run the tests.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "hugging_face"


def example(name: str) -> Any:
    """An example of the folder."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    return import_module(name)
