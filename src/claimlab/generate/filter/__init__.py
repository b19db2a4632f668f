"""The quality filter: which generated samples are good enough to keep, and why the others are not.

    metric     what is known of each text, what a metric is and what it answers: passed, failed, not
               measured, does not apply, error
    metrics/   one small file each
    measure    the metrics one after another, and the opinions of a model, held against thresholds
    result     from readings to a verdict for each sample, and the figures of the report
    front      `quality_filter`, the Python twin of `claimlab generate filter`

A metric that cannot run, or that breaks, never passes a sample.
"""
