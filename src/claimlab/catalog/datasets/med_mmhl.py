"""Med-MMHL: medical misinformation by people and by language models. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="med-mmhl",
        title="Med-MMHL",
        summary="Human-written and LLM-generated medical misinformation: articles, sentences, tweets and their images, "
        "split for five detection tasks.",
        size=40_601,
        modality=("articles", "tweets", "images", "generated"),
        topic="Health",
        region="USA",
        languages=("eng",),
        time_start="2022-01-01",
        time_end="2023-05-01",
        labelling="Human expert (fact-checkers); generated sentences by construction",
        licence=None,
        access="A shared drive folder linked from the repository; the text of tweets must be fetched by id.",
        homepage="https://github.com/styxsys0927/Med-MMHL",
        citation="Sun, He, Lei, Cui and Lu (2023), Med-MMHL: A Multi-Modal Dataset for Detecting Human- and "
        "LLM-Generated Misinformation in the Medical Domain, arXiv:2306.08871.",
        errata=("The guide's table gives no reference; identified by name and dates.",),
        survey="cdl-listed",
    ),
    no_loader="The release does not say which value of its label column 'det_fake_label' means fake, and its files have "
    "not been met here: a guess could swap the classes. With a map of your own: claimlab import FILE --text content --label det_fake_label.",
)
