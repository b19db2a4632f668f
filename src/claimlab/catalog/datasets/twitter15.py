"""Twitter15: source tweets of rumour cascades, with the event each belongs to."""

from __future__ import annotations

from claimlab.catalog.datasets._rumdetect import rumdetect
from claimlab.catalog.kit import Card, Entry, both

LABELS = {"true": "true", "non-rumor": "true", "false": "false", "unverified": "unknown"}

DATASET = Entry(
    card=Card(
        name="twitter15",
        title="Twitter15",
        summary=(
            "Source tweets of rumours traced by rumour-tracking sites (true, false, unverified) and"
            " tweets of news accounts (non-rumor), with the event each belongs to."
        ),
        size=1_490,
        modality=("claims", "tweets"),
        topic="Various",
        languages=("eng",),
        labelling="Human expert",
        access=(
            "Download rumdetect2017.zip from the link in the authors' repository; copies with a"
            " train/dev/test split and the event table circulate."
        ),
        homepage="https://www.dropbox.com/s/7ewzdrbelpmrnxu/rumdetect2017.zip",
        citation=(
            "Ma, Gao and Wong (2017), Detect Rumors in Microblog Posts Using Propagation Structure"
            " via Kernel Learning, ACL; after Liu, Nourbakhsh, Li, Fang and Shah (2015), Real-time"
            " Rumor Debunking on Twitter, CIKM."
        ),
        errata=(
            (
                "Each of the 298 events has a single class (217 events without the unverified"
                " ones), so the event gives the label away: split by group."
            ),
            (
                "The origin of a tweet gives its class away too: all 374 non-rumors come from news"
                " accounts, and snopes, IJCAI and PLOS ONE gave only unverified ones."
            ),
            (
                "26 of the non-rumors are by a satirical account (theonion), yet count as true in"
                " the guide's map."
            ),
            "One tweet is 'unverified' in label.txt and 'false' in the split files.",
            "The texts are lower-cased and every link is the word URL, which is itself predictive.",
            (
                "The guide lists three labels and leaves out 'unverified', which is a quarter of"
                " the rows."
            ),
            (
                "A seeded split reproduces the published scores only with the rows in the order of"
                " label.txt."
            ),
        ),
    ),
    maps=both(LABELS),
    variants={"texts": rumdetect("twitter15")},
    real_rows={"texts": 1_490},
    real_labels={"unverified": 374, "non-rumor": 374, "true": 372, "false": 370},
)
