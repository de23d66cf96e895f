"""What the rules of a run do, in a line each: `x * 1 -> x`.

Comes in: the passes that ran. Goes out: the summaries of the rewrites that their modules hold, of
the passes themselves, which note what they change by hand under their own name, and of folding.
Never: a summary made up for a rule that nobody described.
"""

import sys
from collections.abc import Iterable

from ...ir.rewriter import Rules
from ..declare import Pass

FOLD = {"fold": "an op of constants -> the constant that it gives"}


def summaries(passes: Iterable[Pass]) -> dict[str, str]:
    """The summary of each rule, by its name."""
    found = dict(FOLD)
    for each in passes:
        found[each.name] = each.summary
        module = sys.modules.get(each.function.__module__)
        for value in vars(module).values() if module else ():
            if isinstance(value, Rules):
                found |= {rewrite.name: rewrite.summary for rewrite in value.rewrites}
    return found
