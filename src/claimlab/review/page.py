"""One HTML page per annotator for work offline. The page has the items in it, needs no network and
no server, works by keyboard, keeps decisions in the browser, and saves them as a JSON file that
`review_import` merges back.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files

from claimlab.core.types import JsonObject
from claimlab.pages.html import environment
from claimlab.pages.look import names
from claimlab.review.review import Review
from claimlab.review.task import SCALE


def page(review: Review, name: str) -> str:
    """The page of the annotator `name`: their items as they may see them, the decided ones
    marked.
    """
    folder = files("claimlab.review") / "templates"
    script, style = ((folder / f"by_file.{kind}").read_text("utf-8") for kind in ("js", "css"))
    style = names() + style
    template = environment("claimlab.review").get_template("by_file.html.jinja")
    html: str = template.render(
        task=review.task,
        name=name,
        script=script,
        style=style,
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}",
        data=_data(review, name),
    )
    return html


def _data(review: Review, name: str) -> str:
    """What the script reads, as JSON that cannot end the element that it is in."""
    fields = {"id", "payload", "status", "value", "comment", "returned"}
    content: JsonObject = {
        "review": review.project.schema_name,
        "annotator": name,
        "kind": review.task.kind,
        "choices": [c.model_dump(include={"value", "label", "key"}) for c in review.task.choices],
        "scale": SCALE,
        "items": [item.model_dump(mode="json", include=fields) for item in review.queue(name)],
    }
    return (
        json.dumps(content).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
