"""What happened to claims on their way: measures over the table `traces` of a dataset, and their
report.

hops.py        the traces as one table of hops, whatever wrote them
lite.py        how far a text is from its base claim, without a model, under its own name:
               drift-lite; does it rise fast and then flatten: early slope, late slope, ceiling
judged.py      what a model is asked: FUSE-EVAL in its published readings, verdicts and coverage
attainment.py  whether steered claims arrived
measure.py     all of them together, and who rewrites; page.py, viewer.py and levels.py show the
               result
"""
