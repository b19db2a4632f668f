"""The LaTeX view: a document that compiles (booktabs, longtable, graphicx), and single tables for
`\\input` in a paper (booktabs alone).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence

from claimlab.core import packaged
from claimlab.core.graphemes import graphemes
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
\usepackage{iftex}
\iftutex
\usepackage{fontspec}
\else
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\fi
\usepackage{textcomp,booktabs,longtable,array,graphicx}
\usepackage[margin=2cm]{geometry}
\setlength{\tabcolsep}{4pt}
"""
# Letters of a script that TeX's own fonts lack: themselves in a font of the script under XeLaTeX
# and LuaLaTeX, and their codes under pdfLaTeX.
_SCRIPTS = r"""\iftutex
\ifXeTeX\TeXXeTstate=1 \newcommand{\fromright}[1]{\beginR#1\endR}
\else\newcommand{\fromright}[1]{{\textdir TRT#1}}\fi
\newcommand{\scriptfont}[2]{\IfFontExistsTF{#2}%%
{\expandafter\newfontfamily\csname font#1\endcsname{#2}}{}}
%s
\newcommand{\script}[3]{{\ifcsname font#1\endcsname\csname font#1\endcsname\fi
\ifcsname right#1\endcsname\fromright{#2}\else#2\fi}}
\else
\newcommand{\script}[3]{#3}
\fi
"""
_PROVIDED = r"\providecommand{\script}[3]{\ifdefined\Umathchar#2\else#3\fi}"
_FONTS: dict[str, str] = packaged.toml("claimlab.pages", "latex.toml")["fonts"]
_FROM_RIGHT = ("ARABIC", "HEBREW", "SYRIAC", "THAANA")
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
    body = "\n\n".join(part for part in parts if part)
    return f"{_PREAMBLE}{_scripts_of(body)}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def _scripts_of(body: str) -> str:
    """What the preamble needs for the scripts that occur."""
    names = sorted(set(re.findall(r"\\script\{(\w+)\}", body)))
    fonts = [f"\\scriptfont{{{name}}}{{{_FONTS[name]}}}" for name in names if name in _FONTS]
    right = [
        f"\\expandafter\\def\\csname right{n}\\endcsname{{}}" for n in names if n in _FROM_RIGHT
    ]
    return _SCRIPTS % "\n".join([*fonts, *right]) if names else ""


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
    if any("\\script{" in part for part in parts):
        parts.insert(1, _PROVIDED)
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text as TeX prints it. Letters of scripts that its standard fonts lack are given as
    themselves and by their codes: the engine chooses.
    """
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    runs: list[tuple[str | None, str]] = []
    for script, letters in itertools.groupby(graphemes(composed), key=_script):
        run = "".join(letters)
        if len(runs) > 1 and runs[-1] == (None, " ") and runs[-2][0] == script is not None:
            runs.pop()  # words of one script are set together, or their order would turn round
            runs[-1] = (script, f"{runs[-1][1]} {run}")
        else:
            runs.append((script, run))
    return "".join(_run(script, run) for script, run in runs)


def _script(seen: str) -> str | None:
    """The script of a letter that TeX's standard fonts lack, by Unicode's name; else null."""
    if _char(seen[0]) != f"[U+{ord(seen[0]):04X}]" or unicodedata.category(seen[0])[0] not in "LMN":
        return None
    return re.split(r"\W", unicodedata.name(seen[0], "OTHER"))[0]


def _run(script: str | None, text: str) -> str:
    codes = "".join(map(_char, text))
    return codes if script is None else f"\\script{{{script}}}{{{text}}}{{{codes}}}"


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
