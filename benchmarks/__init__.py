"""Benchmarks against peers, each run as `python -m benchmarks.NAME`; no test times anything."""
