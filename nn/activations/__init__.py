"""Activations: modules, and the functions among them that `brimstone` has not itself."""
