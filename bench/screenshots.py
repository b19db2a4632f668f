"""Screenshots of the workspace and of reports, for the README and the docs: `make screenshots`.

    python bench/screenshots.py [--demo DIR] [-o docs/images] [--dark] [--phone]

They show the demo's synthetic data only. It needs Chromium (`apt-get install chromium`) and
Playwright, no network.
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
PAGES = {
    "workspace": "planted",
    "audit": "audit",
    "run": "runs/tfidf",
}  # by their link in the side navigation
SAVED = {"demo": "index.html", "report": "audit/index.html"}
RUNS = ("runs/tfidf", "runs/majority")


def shoot(browser: Any, url: str, target: Path, size: tuple[int, int], scheme: str) -> None:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(url)
    page.wait_for_timeout(800)  # charts are drawn after the page is there
    page.screenshot(path=target)
    context.close()
    print(f"{target.name}: {target.stat().st_size // 1024} KB", flush=True)


def evaluated(demo: Path, folder: Path) -> Path:
    """The page that compares the demo's two runs."""
    runs = [str(demo / run) for run in RUNS]
    subprocess.run(
        [CLAIMLAB, "evaluate", *runs, "-o", str(folder)], check=True, capture_output=True
    )
    return folder / "index.html"


def linked(browser: Any, address: str) -> dict[str, str]:
    page = browser.new_page()
    page.goto(address)
    links = page.eval_on_selector_all(
        "nav a", "all => all.map(a => [a.textContent.trim(), a.href])"
    )
    page.close()
    return {name: dict(links)[text] for name, text in PAGES.items()}


def served(demo: Path) -> tuple[subprocess.Popen[str], str]:
    """The workspace of `demo` on a free port, and its address."""
    server = subprocess.Popen(
        [CLAIMLAB, "serve", str(demo), "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    address = re.search(r"http://[^/\s]+", server.stderr.readline())
    if address is None:
        raise SystemExit("The workspace did not start.")
    return server, address[0]


def main() -> int:
    made = parser(__doc__)
    made.add_argument(
        "--demo", type=Path, help="a folder of `claimlab demo`; made if it is not given"
    )
    made.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images")
    made.add_argument("--dark", action="store_true", help="in dark mode")
    made.add_argument("--phone", action="store_true", help="as wide as a phone")
    options = begin(made)
    kind = "-phone" if options.phone else ""
    scheme, ending = ("dark", f"{kind}-dark") if options.dark else ("light", kind)
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        if browser is None:
            unmeasured(
                f"{MISSING}: apt-get install chromium (needs root), and pip install playwright"
            )
        options.output.mkdir(parents=True, exist_ok=True)
        demo = options.demo or Path(place) / "demo"
        if options.demo is None:
            subprocess.run([CLAIMLAB, "demo", "-o", str(demo)], check=True)
        server, address = served(demo)
        try:
            urls = linked(browser, address)
            urls |= {name: (demo / file).resolve().as_uri() for name, file in SAVED.items()}
            urls["evaluation"] = evaluated(demo, Path(place) / "evaluation").as_uri()
            for name, url in urls.items():
                shoot(browser, url, options.output / f"{name}{ending}.png", SIZES[kind], scheme)
        finally:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
