"""Shards: a function over parts of the work, a barrier, and completion markers in a folder that all
workers see.
"""

from claimlab.core.engine.run import over_rows, run_stage

__all__ = ["over_rows", "run_stage"]
