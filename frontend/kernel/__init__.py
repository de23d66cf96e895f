"""Kernels that users write: Python functions that are run once, on stand-ins, to learn their tiles.

Comes in: a function of views, decorated with `bs.kernel`. Goes out: a function of tensors that
records one operation, for which every target has machine code.
Never: a value; a tile has none before the kernel runs.

`call` has the decorator, and `trace` runs the function; `draft` is the kernel while it is written.
Users see `values` (tiles and numbers) and `views`; `stating` says what a kernel returns and how
many programs it has, `functions`, `shapes` and `control` have what may be done with tiles. All that
users call is in `bs.tiles`.
"""
