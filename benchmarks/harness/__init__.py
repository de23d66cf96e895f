"""How works are timed: contestants take turns in rounds, on cores of their own, and are compared.

`work` says what a work is, `rounds` times one, `load` watches the machine, `results` keeps figures
and draws tables, `child` is the process that runs them with so many threads.
"""
