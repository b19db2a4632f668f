"""Contamination: does a model know the test set?

Three measurements, each with its control: word n-grams that the test texts share with given
corpora, dates against the model's knowledge cut-off, and a completion probe through the model door.
It is part of `overlap`, because a corpus that a model has read is one more place that may hold the
records of a test set.
"""
