"""Shards: a function over parts of the work, a barrier, and completion markers in a folder that all
workers see.
"""
