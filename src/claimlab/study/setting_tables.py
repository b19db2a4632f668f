"""The tables on single settings of a study: detector against detector, against baselines, seeds and
costs.
"""

from __future__ import annotations

from collections.abc import Callable

from claimlab.core.stats.ranks import rank_words
from claimlab.evaluate.tables import UNTESTED
from claimlab.pages.blocks import Column, Columns, decimal, percent, probability, span
from claimlab.study.entry import TRIVIAL, BoardEntry
from claimlab.study.grid_tables import linked, words

_SETTING: Column[BoardEntry] = Column("setting", lambda e: words(e.axes))
AGAINST: Columns[BoardEntry] = (
    _SETTING,
    Column("against"),
    Column("difference in macro-F1", lambda e: linked(percent(e.difference), e)),
    Column("95% interval", "difference_interval", span),
    Column("corrected p", "p_holm", probability, UNTESTED),
)
# Each score beside the baselines that do not read the text; why, where it could not be tested.
BESIDE_TRIVIAL: Columns[BoardEntry] = (
    _SETTING,
    Column("macro-F1", lambda e: linked(percent(e.macro_f1), e)),
    Column("majority", "chance.majority", percent),
    Column("random guess", "chance.stratified", percent),
    Column("permuted labels", "chance.permuted", percent),
    Column("above the best of these", "chance.difference", percent),
    Column("95% interval", "chance.interval", span),
    Column(
        "corrected p",
        lambda e: e.chance.why or e.chance.p_holm,
        lambda p: p if isinstance(p, str) else probability(p),
        UNTESTED,
    ),
)
COSTS: Columns[BoardEntry] = (
    _SETTING,
    Column("seconds", "seconds", lambda seconds: decimal(seconds, 2)),
    Column("US dollars", "cost", lambda cost: decimal(cost, 4)),
)
# The detectors of each setting against each other.
RANKS: Columns[BoardEntry] = (
    _SETTING,
    Column("rank", lambda e: rank_words(e.ranks)),
    Column("macro-F1", lambda e: linked(percent(e.macro_f1), e)),
    Column("95% interval", "interval", span),
    Column("may be the best", lambda e: "yes" if e.tied else "no"),
    Column("smallest difference seen", "detectable", percent),
)
SEEDS: Columns[BoardEntry] = (
    _SETTING,
    Column("seeds"),
    Column("error from seeds", "from_seeds", percent),
    Column("from records", "from_records", percent),
    Column("more would help", "advice", missing="–"),
)
_TRIVIAL = (
    "What comes without reading the text: always the most frequent class, a guess in the"
    " proportions of the labels, and the same answers against permuted labels (groups of records"
    " kept together). A score is above the best of these (*) where few permutations reach it and"
    " few resamples fall to that baseline: p is the larger of the two shares, corrected by Holm's"
    " method for the number of figures in this study, and * marks p below 0.05."
)
_RANKS = (
    "Ranks that the data allow among the detectors of one setting: every pair is tested at once, on"
    " the same resamples of records and seeds, and the chance of even one wrong rank in a setting"
    " is about 5%. Those that may be the best cannot be told apart. A true difference below the"
    " smallest one seen would be missed in more than 20 of 100 test sets like this one."
)
_SEEDS = (
    "The standard error of each mean, taken apart: from having so few seeds, and from having so few"
    " test records. The larger one says what would make the figure more certain."
)
_COMPARED = (
    "A difference is measured within each resample, on the same records and seeds. p is two-sided"
    " and corrected by Holm's method for the number of comparisons in this study."
)
# The sections on single settings: title, what it means, columns, and which settings.
SETTINGS: tuple[tuple[str, str, Columns[BoardEntry], Callable[[BoardEntry], object]], ...] = (
    ("Detector against detector", _RANKS, RANKS, lambda entry: entry.ranks),
    ("Seeds and records", _SEEDS, SEEDS, lambda entry: entry.advice),
    (
        "Against trivial baselines",
        _TRIVIAL,
        BESIDE_TRIVIAL,
        lambda entry: entry.macro_f1 is not None,
    ),
    (
        "Against the baseline",
        _COMPARED,
        AGAINST,
        lambda entry: entry.against not in (None, TRIVIAL),
    ),
)
