"""The quality filter: which generated samples are good enough to keep, and why the others are not.

    texts      what is known of each text: its source, its other language, the degree asked for, its
               change log
    metric     what a metric is and what it answers: passed, failed, not measured, does not apply,
               error
    metrics/   one small file each
    judge      the opinions of a model, held against a table of thresholds
    decide     from readings to a verdict for each sample
    front      `quality_filter`, the Python twin of `claimlab generate filter`

A metric that cannot run, or that breaks, never passes a sample.
"""
