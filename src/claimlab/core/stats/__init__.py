"""One definition each of what every room measures with: scores, intervals, permutations, agreement,
folds, streams.
"""
