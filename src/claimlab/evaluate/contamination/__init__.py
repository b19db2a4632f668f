"""Contamination: does a model know the test set?

Three measurements, each with its control: word n-grams that the test texts share with given
corpora, dates against the model's knowledge cut-off, and a completion probe through the model door.
It is part of `evaluate` because it is about a model and a test set together, and its report is
shown next to the model's scores; an audit looks at a dataset alone.
"""
