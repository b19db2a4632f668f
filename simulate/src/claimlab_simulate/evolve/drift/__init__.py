"""What happened to claims on their way: measures over the table `traces` of a dataset, and their
report.

hops.py        the traces as one table of hops, whatever wrote them
lite.py        how far a text is from its base claim, without a model, under its own name:
               drift-lite, from what features.py reads in a text
curve.py       does drift rise fast and then flatten: early slope, late slope, ceiling
judged.py      what models are asked, about the hops of sample.py: scores of FUSE-EVAL (fuse.py,
               scores.py, agreement.py), verdicts (verdicts.py) and coverage (coverage.py)
attainment.py  whether steered claims arrived, by their own auditors and by independent ones
               (independent.py)
influence.py   who rewrites, and what moves them
measure.py     all of them together, as the Drift of result.py; page.py, figures.py and viewer.py
               show it
stages.py      the claims before, halfway and after, as datasets
"""
