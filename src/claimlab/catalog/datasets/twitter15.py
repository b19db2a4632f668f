"""Twitter15: source tweets of rumour cascades, with the event each belongs to."""

from __future__ import annotations

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._rumdetect import rumdetect
from claimlab.catalog.entry import Entry, Sample
from claimlab.core.labels import LabelMap

LABELS = {"true": "true", "non-rumor": "true", "false": "false", "unverified": "unknown"}

DATASET = Entry(
    card=Card(
        name="twitter15",
        title="Twitter15",
        summary="Source tweets of rumours traced by rumour-tracking sites (true, false, unverified) and tweets of news "
        "accounts (non-rumor), with the event each belongs to.",
        size=1_490,
        modality=("claims", "tweets"),
        topic="Various",
        languages=("eng",),
        labelling="Human expert",
        shares=Shares(true=50.07, false=24.83, unknown=25.1),
        quality=Quality(keywords="fail", temporal="fail", feasibility="fail"),
        published=Published(
            search_f1=57.7,
            offline_f1=66.5,
            keywords_tf=62.2,
            keywords_tf_baseline=48.9,
            temporal=85.6,
            temporal_feature="tweet id",
        ),
        access="Download rumdetect2017.zip from the link in the authors' repository; copies with a train/dev/test split and the "
        "event table circulate.",
        homepage="https://www.dropbox.com/s/7ewzdrbelpmrnxu/rumdetect2017.zip",
        citation="Ma, Gao and Wong (2017), Detect Rumors in Microblog Posts Using Propagation Structure via Kernel Learning, "
        "ACL; after Liu, Nourbakhsh, Li, Fang and Shah (2015), Real-time Rumor Debunking on Twitter, CIKM.",
        errata=(
            "Each of the 298 events has a single class (217 events without the unverified ones), so the event gives the label "
            "away: split by group.",
            "The origin of a tweet gives its class away too: all 374 non-rumors come from news accounts, and snopes, IJCAI and "
            "PLOS ONE gave only unverified ones.",
            "26 of the non-rumors are by a satirical account (theonion), yet count as true in the guide's map.",
            "One tweet is 'unverified' in label.txt and 'false' in the split files.",
            "The texts are lower-cased and every link is the word URL, which is itself predictive.",
            "The guide lists three labels and leaves out 'unverified', which is a quarter of the rows.",
            "A seeded split reproduces the published scores only with the rows in the order of label.txt.",
        ),
        survey="cdl-claims",
        met_real_files=True,
    ),
    maps={"a5": LabelMap("twitter15/a5", LABELS), "cdl": LabelMap("twitter15/cdl", LABELS)},
    variants={"texts": rumdetect("twitter15")},
    sample=Sample(
        files={
            "label.txt": "unverified:700000000000000001\nnon-rumor:700000000000000002\ntrue:700000000000000003\n"
            "false:700000000000000004\nfalse:20000000001\n",
            "Twitter15_label_All.txt": "unverified\tE1-1\t700000000000000001\t1\t2\t3\t4\tsnopes\t0.5\n"
            "non-rumor\ttowncrier\t700000000000000002\t1\t2\t3\t4\tnews_account\t0.5\n"
            "true\tCIKM_1\t700000000000000003\t1\t2\t3\t4\tCIKM\t0.5\n"
            "false\tCIKM_2\t700000000000000004\t1\t2\t3\t4\tCIKM\t0.5\n",
            "twitter15.train": '700000000000000003\tthe "old bridge reopened today URL\ttrue\n'
            "700000000000000001\ta giant squid lives in the town pond 🦑\tunverified\n",
            "twitter15.dev": "700000000000000004\tthe mayor is made of wood\tunverified\n",
            "twitter15.test": "700000000000000002\tlocal library opens on monday URL\tnon-rumor\n",
        },
        rows={"texts": 5},
        veracity={"true": 2, "false": 2, "unknown": 1},
    ),
    real_rows={"texts": 1_490},
    real_labels={"unverified": 374, "non-rumor": 374, "true": 372, "false": 370},
)
