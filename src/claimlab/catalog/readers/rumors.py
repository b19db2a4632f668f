"""Rumors (Tam et al. 2019): rumours that Snopes rated in 2017, and the tweets that carried them."""

from __future__ import annotations

from claimlab.catalog import kit

TWEETS = ("tweets.csv", "*tweet*.csv", "*tweet*.json*")
NUMBER = ("rumor_id", "rumour_id", "claim_id", "rumor", "rumour")


def load_tweets(bundle: kit.Bundle) -> kit.Loaded:
    """One record per tweet, with the verdict on the rumour behind it; all tweets of a rumour are
    one group.
    """
    rumours = (
        kit.entry_of("rumors")
        .variants["rumours"](bundle)
        .records.select("label_raw", "topic", "url", group="id")
    )
    raw = kit.Table.read(bundle, bundle.one(*TWEETS))
    ids, text = raw.need("tweet_id", "id", "id_str"), raw.maybe("text", "tweet", "full_text")
    records = raw.frame.select(
        id=kit.unique_ids("rumors-tweet", ids),
        text=text,
        kind=kit.post_or_id(text),
        **kit.sent(ids),
        tweet_id=ids,
        group="rumors-" + raw.need(*NUMBER),
    )
    return kit.Loaded(records.join(rumours, on="group", how="left", maintain_order="left"))
