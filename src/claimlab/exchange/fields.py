"""What each column means, in a sentence: for dataset cards and for metadata that machines read."""

from __future__ import annotations

RECORD_FIELDS = {
    "id": "Identifier, unique in this dataset.",
    "dataset": "Name of the dataset that the record comes from.",
    "text": "The claim, article or post itself; null where only an id may be shared.",
    "kind": "claim, article, post or id-only.",
    "label_raw": "The label as the source wrote it.",
    "veracity": (
        "The label mapped to true, false, mixed or unknown; null where the source gives no verdict."
    ),
    "language": "Language of the text, ISO 639-3.",
    "date": "When the text appeared, UTC.",
    "date_source": "Where the date was taken from.",
    "tweet_id": "Identifier of the post on its platform, as text.",
    "author": "Who made the claim or wrote the text.",
    "source": "Where the text appeared or who collected it.",
    "url": "Address of the text.",
    "topic": "Topic as the source names it.",
    "group": "Event, pair or cluster whose records must stay in one split.",
    "authorship": (
        "HWT human-written, MGT machine-generated, MTT machine-translated, HAT altered by a"
        " machine."
    ),
    "split": "The split that the source or a split step assigned.",
    "meta": "JSON object with whatever the source had besides.",
}
SIDE_TABLE_SUMMARIES = {
    "dropped": "Records that a step removed, with the step and the reason.",
    "doubtful": "Records that a step set aside, with the step and the reason.",
    "evidence": "Evidence and fact-checks attached to records.",
    "claims": "Claims taken out of longer texts.",
    "annotations": "Answers of people or models to questions about records.",
    "traces": "What each agent did in a simulated run.",
    "predictions": "Answers of detectors.",
}


def field_summary(table: str, column: str) -> str | None:
    """A sentence for a column, where one is agreed; columns that a step added have none."""
    if column == "record_id":
        return "Id of the record that this row belongs to."
    if table in ("records", "dropped", "doubtful"):
        return RECORD_FIELDS.get(column)
    return "JSON object with whatever else is known." if column == "meta" else None
