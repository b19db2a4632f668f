"""Evaluation Quality Assurance: what a study set out to prove, what was checked for it, and what
was not.

The author writes the first part (`study.py`). The second is taken from saved audits and evaluation
runs (`evidence.py`, `runs.py`). The third, the limits, is written by the program from what it did
not find (`limits.py`).
"""
