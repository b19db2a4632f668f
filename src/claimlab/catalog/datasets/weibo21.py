"""Weibo21: Chinese news in nine domains. A card without a loader."""

from __future__ import annotations

from claimlab.catalog.card import Card
from claimlab.catalog.entry import Entry

DATASET = Entry(
    card=Card(
        name="weibo21",
        title="Weibo21",
        summary="Posts on Sina Weibo in nine domains, fake ones judged by Weibo's community management centre, with "
        "pictures, times and comments.",
        size=9_128,
        modality=("posts", "articles"),
        topic="Various",
        region="China",
        languages=("zho",),
        time_start="2014-12",
        time_end="2021-03",
        labelling="Human expert",
        licence="research only",
        access="By e-mail, after the application form linked from the repository.",
        homepage="https://github.com/kennqiang/MDFEND-Weibo21",
        citation="Nan, Cao, Zhu, Wang and Li (2021), MDFEND: Multi-domain Fake News Detection, CIKM.",
        errata=(
            "The guide's table writes the language as 'CN', which is the code of a country; the language is Chinese.",
            "The guide files it under news articles; the items are posts on Weibo.",
        ),
        survey="cdl-listed",
    ),
    no_loader="The public split files are Python pickles, which can run code when opened and are never read here; the "
    "raw files come on application and have not been met. Converted to CSV they can be imported (claimlab import).",
)
