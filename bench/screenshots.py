"""Screenshots of the workspace and of reports, for the README and the docs: `make screenshots`.

    python bench/screenshots.py [--demo DIR] [-o docs/images]

Each page wide and narrow, light and dark. They show the demo's synthetic data only. It needs
Chromium (`apt-get install chromium`) and Playwright, no network.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
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
    "review-status": "reviews/review",
    "action": "datasets/planted/run/clean",
    "add-data": "add",
}
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
        server, link = served(demo)
        address = link.partition("sign-in")[0]
        try:
            urls = {"sign-in": link} | {name: address + path for name, path in PAGES.items()}
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
