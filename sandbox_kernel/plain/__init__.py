"""Python's plain data, one step simpler: what dataclasses, dates, arrays and frames are in a sandbox.

`scalars.py` and `containers.py` know every kind; the encoder (`wire/tabulate.py`) asks them about a
value that it does not know itself. Libraries are never imported here: a value can be one of
theirs only if somebody has loaded them (`loaded.py`).
"""
