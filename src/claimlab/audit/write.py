"""An audit on disk: `audit.json` holds the findings, everything else beside it is a view of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from claimlab.audit.run import Audit
from claimlab.audit.views.page import DETAILS, Chapter, Detail, chapters, report
from claimlab.audit.views.paper import paper
from claimlab.core.atomic import atomic_folder
from claimlab.core.errors import DataError, OutputExists
from claimlab.pages.blocks import Figure, Report, walk
from claimlab.pages.charts import svg_to_png
from claimlab.pages.html import to_html_within
from claimlab.pages.latex import to_latex
from claimlab.pages.markdown import to_markdown

FILE = "audit.json"
PLOTS = "plots"
Page = Callable[[Sequence[Chapter], Detail], Report]


def refuse_report(folder: Path, force: bool) -> None:
    """Raise before any work is done when `folder` holds something; `force` replaces an older report only."""
    if folder.exists() and any(folder.iterdir()) and not (force and (folder / FILE).is_file()):
        raise OutputExists(folder)


def write_audits(audits: Sequence[Audit], folder: str | Path, *, force: bool = False) -> None:
    """Write the report folder in one atomic step."""
    folder = Path(folder)
    refuse_report(folder, force)
    with atomic_folder(folder) as building:
        write_into(audits, building)


def write_into(audits: Sequence[Audit], folder: Path, page: Page = report) -> None:
    """The files of a report: findings, page, Markdown, LaTeX and pictures. `page` says what the page holds."""
    text = json.dumps({"audits": [a.to_json() for a in audits]}, ensure_ascii=False, indent=1)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
    parts = chapters(audits)
    whole = page(parts, DETAILS[0])
    html = to_html_within(page(parts, detail) for detail in DETAILS)
    (folder / "index.html").write_text(html, encoding="utf-8")
    (folder / "report.md").write_text(to_markdown(whole), encoding="utf-8")
    (folder / "report.tex").write_text(to_latex(paper(audits)), encoding="utf-8")
    write_plots((b for b in walk(whole.blocks) if isinstance(b, Figure)), folder / PLOTS)


def write_plots(figures: Iterable[Figure], folder: Path) -> None:
    """Every named picture as SVG and as PNG."""
    folder.mkdir()
    for figure in figures:
        if figure.name:
            (folder / f"{figure.name}.svg").write_text(figure.svg + "\n", encoding="utf-8")
            (folder / f"{figure.name}.png").write_bytes(svg_to_png(figure.svg))


def read_audits(folder: Path) -> list[Audit]:
    """The audits saved in a report folder, or in an `audit.json` itself."""
    file = folder / FILE if folder.is_dir() else folder
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        return [Audit.from_json(a) for a in raw["audits"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"'{file}' is not a saved audit: {error}.", "Make one with: claimlab audit DIR -o FOLDER"
        ) from None
