"""A study: a grid of datasets, steps, splits, detectors and seeds in one file, and the tables it
gives.
"""
