"""Transformers: layers of attention and of networks for each position, and stacks of them."""
