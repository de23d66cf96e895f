"""Schedules: rates that change from step to step."""
