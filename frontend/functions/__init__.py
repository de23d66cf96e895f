"""The functions on tensors that users call, by kind; `frontend/names.py` says which are whose."""
