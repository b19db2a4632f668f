"""The metrics of a run, one file each; see `evaluate/metric.py`."""
