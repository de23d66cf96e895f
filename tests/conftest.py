"""Settings of every test, and the plugins that come with the tests."""

from hypothesis import settings

pytest_plugins = ["kit.ir_files", "kit.summary", "pytester"]

# The same examples on every run, and no deadline: a busy machine must not fail a test.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")
