"""The LaTeX view: a document that compiles (booktabs, longtable, graphicx), and single tables for
`\\input` in a paper (booktabs alone).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from claimlab.core import packaged
from claimlab.pages.blocks import (
    Badge,
    Block,
    Card,
    Cell,
    Command,
    Figure,
    Forest,
    Inline,
    Items,
    Outer,
    Quote,
    Report,
    Results,
    Section,
    Shares,
    Steps,
    Table,
    Text,
    Tiles,
    cell,
    inside,
    with_code,
)

_PREAMBLE = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp,booktabs,longtable,array,graphicx}
\usepackage[margin=2cm]{geometry}
\setlength{\tabcolsep}{4pt}
\begin{document}
"""
_ESCAPES: dict[str, str] = packaged.toml("claimlab.pages", "latex.toml")["escapes"]
_SECTIONS = ("section", "subsection", "subsubsection", "paragraph")
_LONG = 38  # characters: from here a column is given a width and wraps


def to_latex(report: Report) -> str:
    """Every block that can be printed; figures are the PNG files in the folder `plots`."""
    parts = [
        f"\\title{{{escape(report.title)}}}\\author{{claimlab}}\\date{{}}\\maketitle",
        f"\\noindent {escape(report.subtitle)}" if report.subtitle else "",
        *(part for block in report.blocks for part in _parts(block, 0)),
    ]
    return _PREAMBLE + "\n\n".join(part for part in parts if part) + "\n\\end{document}\n"


def to_latex_tables(tables: Sequence[Table]) -> str:
    """Tables for `\\input`: each with its caption, and below it the note that explains its marks:
    the sentences of the caption after the first."""
    parts = ["% \\usepackage{booktabs}"]
    for table in tables:
        spec, heads, rows = _body(table)
        title, _, note = table.caption.partition(". ")
        lines = [
            "\\begin{table}[t]\n\\centering\\footnotesize",
            f"\\caption{{{escape(title.rstrip('.'))}.}}" if title else "",
            f"\\begin{{tabular}}{{{spec}}}\n\\toprule\n{heads}\n\\midrule",
            *rows,
            "\\bottomrule\n\\end{tabular}",
            f"\\par\\smallskip\\parbox{{\\linewidth}}{{{escape(note)}}}" if note else "",
            "\\end{table}",
        ]
        parts.append("\n".join(filter(None, lines)))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text as TeX prints it. Letters of scripts that its standard fonts lack are given by their
    code.
    """
    return "".join(_char(c) for c in unicodedata.normalize("NFC", " ".join(text.split())))


def _char(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if " " <= char <= "~" or (char.isalpha() and "\u00c0" <= char <= "\u017f"):
        return char
    return f"[U+{ord(char):04X}]" if not unicodedata.combining(char) else ""


def _parts(block: Block, level: int) -> list[str]:
    if not isinstance(block, Outer):
        return [_part(block)]
    titled = isinstance(block, Section | Card)
    inner = [part for b in inside(block) for part in _parts(b, level + titled)]
    if not isinstance(block, Section | Card):
        return inner
    return [f"\\{_SECTIONS[min(level, 3)]}*{{{escape(block.title)}}}", *inner]


def _part(block: Inline) -> str:
    match block:
        case Text():
            return escape(block.text)
        case Items():
            return _list("itemize", [with_code(item, _code, escape) for item in block.items])
        case Steps():
            return _list("enumerate", [escape(f"{step}. {why}") for step, why in block.steps])
        case Command():
            return "\n\n".join(filter(None, [_code(block.command), escape(block.does)]))
        case Forest():
            return _list("itemize", [escape(row.words) for row in block.rows])
        case Results() | Badge() | Shares():
            return escape(block.words)
        case Tiles():
            return ", ".join(f"{escape(label)}: {escape(value)}" for label, value, _ in block.tiles)
        case Quote():
            return f"\\begin{{quote}}{escape(block.text)}\\end{{quote}}"
        case Figure(name=""):
            return ""
        case Figure():
            figure = f"\\includegraphics[width=.9\\linewidth]{{plots/{block.name}.png}}"
            return f"\\begin{{center}}{figure}\\\\ {escape(block.caption)}\\end{{center}}"
        case Table():
            return _table(block)


def _list(kind: str, items: Sequence[str]) -> str:
    lines = "\n".join(f"\\item {item}" for item in items)
    return f"\\begin{{{kind}}}\n{lines}\n\\end{{{kind}}}"


def _code(text: str) -> str:
    return f"\\texttt{{{escape(text)}}}"


def _body(table: Table) -> tuple[str, str, list[str]]:
    """The column types, the line of heads and the rows of a table."""
    rows = [[cell(value) for value in row] for row in table.rows]
    columns = range(len(table.columns))
    spec = "".join(_column([row[i] for row in rows]) for i in columns)
    heads = [
        f"\\rotatebox{{90}}{{{escape(n)}}}" if table.upright and i else escape(n)
        for i, n in enumerate(table.columns)
    ]
    body = [" & ".join(_cell(c) for c in row) + " \\\\" for row in rows]
    return spec, " & ".join(heads) + " \\\\", body


def _table(table: Table) -> str:
    spec, heads, rows = _body(table)
    lines = [
        f"{{\\footnotesize\n\\begin{{longtable}}{{{spec}}}\n\\toprule\n{heads}\n\\midrule",
        "\\endhead\n\\bottomrule\n\\endfoot",
        *rows,
        "\\end{longtable}\n}",
    ]
    caption = f"\n\n{{\\small {escape(table.caption)}}}" if table.caption else ""
    return "\n".join(filter(None, lines)) + caption


def _column(cells: Sequence[Cell]) -> str:
    if cells and all(isinstance(c.sort, float) for c in cells):
        return "r"
    return "p{0.4\\linewidth}" if any(len(c.text) > _LONG for c in cells) else "l"


def _cell(value: Cell) -> str:
    text = escape(value.text)
    return f"\\textbf{{{text}}}" if value.tone == "fail" else text
