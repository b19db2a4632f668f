"""Twitter16: source tweets of rumours and news, four classes; the twin of Twitter15, in the same layout."""

from __future__ import annotations

from claimlab.catalog.card import Card, Published, Quality, Shares
from claimlab.catalog.datasets._guide import guide, made_up
from claimlab.catalog.datasets._rumdetect import rumdetect
from claimlab.catalog.entry import Entry, Sample
from claimlab.core.labels import LabelMap

A5 = {"true": "true", "non-rumor": "true", "false": "false", "unverified": "unknown"}

DATASET = Entry(
    card=Card(
        name="twitter16",
        title="Twitter16",
        summary="Source tweets of rumours that Snopes had checked and of news accounts: true, false, unverified or no rumour at all.",
        size=818,
        modality=("claims", "tweets"),
        topic="Various",
        languages=("eng",),
        time_start="2015-03",
        time_end="2016-12",
        labelling="Human expert",
        shares=Shares(true=50.37, false=25.06, unknown=24.57),
        quality=Quality(keywords="fail", temporal="fail", feasibility="fail"),
        published=Published(
            search_f1=49.2,
            offline_f1=55.8,
            keywords_tf=66.4,
            keywords_tf_baseline=43.3,
            temporal=95.9,
            temporal_feature="tweet id",
        ),
        access="Download rumdetect2017.zip, linked from the authors' repository Rumor_RvNN; the events are in Twitter16_label_All.txt there.",
        homepage="https://github.com/majingCUHK/Rumor_RvNN",
        citation="Ma, Gao and Wong (2017), Detect Rumors in Microblog Posts Using Propagation Structure via Kernel Learning, ACL.",
        errata=(
            "Classes were collected at different times and from different places: the first digits of the tweet id, or the origin in "
            "Twitter16_label_All.txt (IJCAI, PLOS_ONE, snopes, news_account), nearly give the class away.",
            "As in Twitter15, where every event has a single class, splits must keep events together (column 'group'; for tweets that are no rumour it is the news account).",
            "The guide's notebook prints 96.5 for the temporal score; its table says 95.9.",
        ),
        survey="cdl-claims",
    ),
    maps={"a5": LabelMap("twitter16/a5", A5), "cdl": LabelMap("twitter16/cdl", A5)},
    variants={"texts": rumdetect("twitter16"), "guide": guide("twitter16", "twitter16", kind="post", language="eng")},
    published_rows={"guide": 818},
    sample=Sample(
        files={
            "rumor_detection_acl2017/twitter15/label.txt": "true:1\n",
            "rumor_detection_acl2017/twitter15/source_tweets.txt": "1\tthis one belongs to the other dataset\n",
            "rumor_detection_acl2017/twitter16/label.txt": "true:614467824313100001\nnon-rumor:693315824132600002\nfalse:656955120626800003\nunverified:731166399389900004\n",
            "rumor_detection_acl2017/twitter16/source_tweets.txt": '614467824313100001\tthe "old mill at riverton burned down last night URL\n'
            "693315824132600002\triverton opens its new library today URL\n656955120626800003\tlake riverton has turned purple URL\n",
            "Twitter16_label_All.txt": "true\tE1\t614467824313100001\t1\t2\t3\t4\tIJCAI\t0.5\nfalse\tE2\t656955120626800003\t1\t2\t3\t4\tIJCAI\t0.5\n"
            "non-rumor\triverton_news\t693315824132600002\t1\t2\t3\t4\tnews_account\t0.5\n",
            **made_up(
                "twitter16",
                {"claim": "lake riverton has turned purple", "label": "false", "tweet_id": "656955120626800003"},
                {"claim": None, "label": "non-rumor", "tweet_id": "693315824132600002"},
            ),
        },
        rows={"texts": 4, "guide": 2},
        veracity={"true": 2, "false": 1, "unknown": 1},
    ),
)
