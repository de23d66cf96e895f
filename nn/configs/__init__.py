"""Configs: dataclasses of settings, written as JSON and read again, checked by their types."""
