"""Screenshots of the workspace and of reports, for the README and the docs: `make screenshots`.

    python bench/screenshots.py [--demo DIR] [-o docs/images]

Each page wide and narrow, light and dark. They show the demo's synthetic data only. It needs
Chromium (`apt-get install chromium`) and Playwright, no network.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

from harness import ROOT, begin, parser, unmeasured
from harness.browser import MISSING, chromium

CLAIMLAB = str(Path(sys.executable).with_name("claimlab"))
SIZES = {"": (1280, 800), "-phone": (390, 844)}
SCHEMES = {"": "light", "-dark": "dark"}
SCALE = 0.5  # of a pixel: images in the repository are small
PAGES = {
    "home": "",
    "workspace": "datasets/planted",
    "record": "datasets/planted/record?id=demo-0010&at=9&q=market",
    "audit": "audits/audit",
    "run": "runs/runs~tfidf",
    "errors": "runs/runs~tfidf/prediction?id=demo-0662&at=1&sort=-confidence&right=wrong",
    "compare": "compare?one=runs~tfidf&other=runs~majority",
    "match": "match?text=A+cheese+market+cancelled+its+evening+courses&archive=planted",
    "study": "studies/study",
    "evolution": "traces/evolved/viewer",
    "claims": "reports/shared/claims",
    "review-status": "reviews/review",
    "action": "datasets/planted/run/clean",
    "add-data": "add",
}
STUDY = """\
name = "Detectors under a random and a fair split"
seeds = [0]

[datasets.planted]
folder = "planted"

[grid]
split = ["random", "near-duplicates"]
detector = ["tfidf"]
"""
SAVED = {"demo": "index.html", "report": "audit/index.html"}
RUNS = ("runs/tfidf", "runs/majority")


def shoot(browser: Any, urls: dict[str, str], folder: Path, size: str, scheme: str) -> None:
    """Every page at one width, in one scheme of colours."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=SCHEMES[scheme],
        device_scale_factor=SCALE,
    )
    page = context.new_page()
    page.goto(urls["sign-in"])
    page.wait_for_selector(".card")
    for name, url in urls.items():
        if name == "sign-in":
            continue
        target = folder / f"{name}{size}{scheme}.png"
        page.goto(url, timeout=120_000)
        page.wait_for_load_state("networkidle", timeout=120_000)  # what follows a page is there
        page.screenshot(path=target)
        print(f"{target.name}: {target.stat().st_size // 1024} KB", flush=True)
    context.close()


def evaluated(demo: Path, folder: Path) -> Path:
    """The page that compares the demo's two runs."""
    runs = [str(demo / run) for run in RUNS]
    subprocess.run(
        [CLAIMLAB, "evaluate", *runs, "-o", str(folder)], check=True, capture_output=True
    )
    return folder / "index.html"


def extended(demo: Path, folder: Path) -> dict[str, str]:
    """A copy of the demo in `folder` with a study, an overlap and a review on which two annotators
    differ; the addresses that sign the adjudicator in.
    """
    shutil.copytree(demo, folder, dirs_exist_ok=True)
    (folder / "study.toml").write_text(STUDY, "utf-8")
    for words in (
        ("study", "run", "study.toml", "-o", "study"),
        ("overlap", "planted", "clean-twin", "-o", "shared"),
    ):
        if not (folder / words[-1]).exists():
            subprocess.run([CLAIMLAB, *words], cwd=folder, check=True, capture_output=True)
    return {"adjudicate": f"reviews/conflicts/sign-in#token={disputed(folder)}"}


def disputed(folder: Path) -> str:
    """The token of an adjudicator of a review of conflicts."""
    from claimlab.review.create import review_create

    people = ("ana", "ben")
    review = review_create(
        folder / "planted",
        folder / "conflicts",
        task="conflict",
        pairs="conflicts",
        people=people,
        force=True,
    )
    for name, answer in zip(people, ("first", "second"), strict=True):
        while (item := review.next_item(name)) is not None:
            review.decide(name, item.id, answer, key=str(uuid.uuid4()))
    token = review.add_person("clara", "adjudicator")[1]
    review.close()
    return token


def served(demo: Path) -> tuple[subprocess.Popen[str], str]:
    """The workspace of `demo` on a free port, and the link that signs in."""
    server = subprocess.Popen(
        [CLAIMLAB, "serve", str(demo), "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    address = re.search(r"http://\S+", server.stderr.readline())
    if address is None:
        raise SystemExit("The workspace did not start.")
    return server, address[0]


def main() -> int:
    made = parser(__doc__)
    made.add_argument(
        "--demo", type=Path, help="a folder of `claimlab demo`; made if it is not given"
    )
    made.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images")
    options = begin(made)
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        if browser is None:
            unmeasured(
                f"{MISSING}: apt-get install chromium (needs root), and pip install playwright"
            )
        options.output.mkdir(parents=True, exist_ok=True)
        demo = options.demo or Path(place) / "demo"
        if options.demo is None:
            subprocess.run([CLAIMLAB, "demo", "-o", str(demo)], check=True)
        demo, made_here = Path(place) / "workspace" / "demo", demo
        signs_in = extended(made_here, demo)
        server, link = served(demo)
        address = link.partition("sign-in")[0]
        try:
            paths = PAGES | signs_in
            urls = {"sign-in": link} | {name: address + path for name, path in paths.items()}
            urls |= {name: (demo / file).resolve().as_uri() for name, file in SAVED.items()}
            urls["evaluation"] = evaluated(demo, Path(place) / "evaluation").as_uri()
            for size in SIZES:
                for scheme in SCHEMES:
                    shoot(browser, urls, options.output, size, scheme)
        finally:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
