"""What the dialects and the interpreter share.

`attribute_texts` prints attributes, `kinds` are the kinds of arithmetic of the lower floors,
`regions` checks what regions take and yield, `signature` whether a call fits a func, `named` finds
the functions that a program names, `rounding` rounds to narrow floats once, as constants must too.
"""
