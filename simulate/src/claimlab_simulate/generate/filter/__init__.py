"""The quality filter: which generated samples are good enough to keep, and why the others are not.

    batch       the texts to judge, and what is known of each
    reading     what a metric answers: passed, failed, not measured, does not apply, error
    metric      what a metric is
    metrics/    the metrics, in tables
    thresholds  the limits that values are compared with
    panel       the opinions of a model, compared with thresholds
    scores      figures that were computed elsewhere
    measure     the metrics one after another
    verdict     from readings to a verdict for each sample
    decisions   the agreement with annotators
    result      the figures of the report
    views       the report, for a terminal and as a page
    front       `quality_filter`, the Python twin of `claimlab generate filter`

A metric that cannot run, or that breaks, never passes a sample.
"""
