"""Recurrent networks: what a state becomes at each step, cells, layers of many steps."""
