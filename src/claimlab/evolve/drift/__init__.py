"""What happened to claims on their way: measures over the table `traces` of a dataset, and their
report.

hops.py     the traces as one table of hops, whatever wrote them
lite.py     how far a text is from its base claim, without a model, under its own name: drift-lite
fuse.py     FUSE-EVAL by a model judge, in its published readings; agreement.py says what the judge
            is worth
curve.py    does drift rise fast and then flatten: early slope, late slope, ceiling
verdicts.py, coverage.py, attainment.py, producers.py, levels.py
measure.py  all of them together; views/ and write.py show the result
"""
