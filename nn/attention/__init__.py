"""Attention: layers of it, what they remember while a text is continued, codes of positions."""
