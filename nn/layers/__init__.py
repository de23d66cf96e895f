"""Layers: the modules that models are put together from, one kind a file."""
