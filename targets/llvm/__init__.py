"""The CPU: funcs of the loop floor become machine code, by LLVM.

Comes in: modules. Goes out: executables. Never: a size of a program in its code.
"""
