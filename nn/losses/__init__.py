"""Losses: functions of predictions and targets, each with a module that holds its settings."""
