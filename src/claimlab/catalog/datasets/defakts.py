"""DeFaktS: German tweets, real or disinformation."""

from __future__ import annotations

from claimlab.catalog.kit import Card, Entry, both, one_table

LOAD = one_table(
    "defakts",
    'One CSV. The labels were written as floats ("1.0"), which is undone: the published labels are'
    " 0 and 1.",
    files=("*defakts*binary*.csv", "*defakts*.csv", "*.csv"),
    id="id",
    text="text",
    kind="post",
    label=("binary_label", "label"),
)


LABELS = {"0": "true", "1": "false"}

DATASET = Entry(
    card=Card(
        name="defakts",
        title="DeFaktS",
        summary=(
            "German tweets on politics, war, health and climate, each marked as real or as"
            " disinformation by its wording."
        ),
        size=105_855,
        modality=("claims", "tweets"),
        topic="Various",
        region="Germany",
        languages=("deu",),
        labelling="Human expert",
        access=(
            "The binary labels with texts are in the authors' public repository; the full set is"
            " given on request."
        ),
        homepage="https://github.com/caisa-lab/DeFaktS-Dataset-Disinformaton-Detection",
        citation=(
            "Ashraf, Bezzaoui, Andone, Markowetz, Fegert and Flek (2024), DeFaktS: A German Dataset"
            " for Fine-Grained Disinformation Detection through Social Media Framing, LREC-COLING."
        ),
        errata=(
            "The guide's Table 4 calls it 'DeFacts'; it is DeFaktS everywhere else.",
            (
                "The published shares count all 105,855 tweets, of which only 20,008 are labelled:"
                " among labelled tweets 59% are real and 41% disinformation, so the 81.1% 'unknown'"
                " is unlabelled data, not a class."
            ),
            (
                "The file of binary labels holds 19,996 of the 20,008 labelled tweets and no dates,"
                " though the guide reports a temporal score."
            ),
            (
                "Annotators judged wording without outside knowledge, so 0 means 'no sign of"
                " disinformation', not 'checked true'."
            ),
            (
                "The search word 'FDP' (a party) also caught Portuguese tweets that use it as an"
                " insult; some carry the label 1."
            ),
        ),
    ),
    maps=both(LABELS),
    variants={"binary": LOAD},
    published_rows={"binary": 20_008},
    real_rows={"binary": 19_996},
    real_labels={"0": 11_771, "1": 8_225},
)
