"""How works are timed: contestants take turns in rounds, on cores of their own, and are compared.

`work` says what a work is, `rounds` times one, `load` watches the machine, `neighbour` loads it on
purpose, `results` keeps figures and draws tables, `slowdown` says what a neighbour costs, `child`
is the process that runs works with so many threads.
"""
