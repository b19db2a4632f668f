"""What is new since the site before: its changes, and the feed of them."""

from __future__ import annotations

from html import escape

from claimlab.core.digest import digest_json
from claimlab.core.types import JsonObject
from claimlab.publish.aggregates import summary, verdict_counts
from claimlab.publish.site_content import FEED, Site, title_of

MOST_ENTRIES = 100  # of the feed


def changes_since(site: Site, before: JsonObject) -> list[JsonObject]:
    """What is new since the site before, and after it what was new then."""
    old, changes = before.get("datasets", {}), []
    for name, audit in site.audits.items():
        now = summary(audit)
        then = old.get(name)
        if then == now:
            continue
        if then is None:
            text = f"Audited: {audit.concluded().verdict.words} ({verdict_counts(audit)})."
        else:
            verdicts = then["verdicts"]
            text = "; ".join(
                f"{check}: {verdicts.get(check, 'not run')} to {verdict}"
                for check, verdict in now["verdicts"].items()
                if verdicts.get(check) != verdict
            )
            text = f"{text or 'Same verdicts on other records'}."
        changes.append(
            {
                "dataset": name,
                "title": title_of(audit),
                "day": site.as_of.isoformat(),
                "text": text.replace("-", " "),
                "id": digest_json([name, site.as_of.isoformat(), now]),
            }
        )
    return [*changes, *before.get("changes", [])][:MOST_ENTRIES]


def feed(site: Site) -> str:
    """The changes as an Atom feed; links are relative to it."""
    entries = "".join(
        f"<entry><id>urn:sha256:{change['id']}</id><title>{escape(str(change['title']))}</title>"
        f"<updated>{change['day']}T00:00:00Z</updated>"
        f'<link href="datasets/{change["dataset"]}/index.html"/>'
        f"<summary>{escape(str(change['text']))}</summary></entry>\n"
        for change in site.changes
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        "<id>urn:claimlab:site</id><title>What each dataset can be used for</title>"
        f"<updated>{site.as_of}T00:00:00Z</updated><author><name>claimlab</name></author>"
        f'<link rel="self" href="{FEED}"/>\n{entries}</feed>\n'
    )
