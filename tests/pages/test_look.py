"""The look: contrast, colours that stay apart for colour-blind readers, and one place for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from claimlab.pages.charts import CLASS_COLOURS, VERDICT_COLOURS
from claimlab.pages.look import colours, names, stylesheet

ROOT = Path(__file__).parents[2]
TEXT = ("ink", "soft", "faint", "accent", "fail", "warn", "inconclusive", "pass", "unknown")
MARKS = ("grey", "edge", "false", "true")  # no text: told apart from what is behind them
# Machado, Oliveira and Fernandes (2009), table 1, severity 1.0
BLIND = {
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
}
Colour = tuple[float, ...]


def linear(code: str) -> Colour:
    values = [int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return tuple(v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values)


def contrast(one: str, other: str) -> float:
    weights = (0.2126, 0.7152, 0.0722)
    light = [sum(w * v for w, v in zip(weights, linear(c), strict=True)) for c in (one, other)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def mixed(one: str, other: str, share: float) -> str:
    pairs = [
        (int(one[place : place + 2], 16), int(other[place : place + 2], 16)) for place in (1, 3, 5)
    ]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def lab(light: Colour) -> Colour:
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.95047, 1.0, 1.08883)
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for row, most in zip(rows, white, strict=True)
        for value in [sum(a * b for a, b in zip(row, light, strict=True)) / most]
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(code: str, kind: str) -> Colour:
    light = linear(code)
    return tuple(
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, light, strict=True))))
        for row in BLIND[kind]
    )


def apart(one: str, other: str, kind: str) -> float:
    pairs = zip(lab(seen(one, kind)), lab(seen(other, kind)), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_marks_have_the_contrast_of_wcag_aa(dark: bool) -> None:
    look = colours(dark=dark)
    for name in TEXT:
        behind = [look["paper"], look["wash"]]
        if name in ("fail", "warn", "inconclusive", "pass", "unknown"):
            behind.append(mixed(look[name], look["paper"], 0.1))  # a badge
        for paper in behind:
            assert contrast(look[name], paper) >= 4.5, (name, paper)
    assert contrast(look["accent"], look["accent-wash"]) >= 4.5
    assert contrast(look["paper"], look["accent"]) >= 4.5, "the words of the main button"
    for name in MARKS:
        assert contrast(look[name], look["paper"]) >= 3.0, name


@pytest.mark.parametrize("kind", BLIND)
@pytest.mark.parametrize("dark", [False, True])
def test_verdicts_and_classes_stay_apart_for_colour_blind_readers(dark: bool, kind: str) -> None:
    look = colours(dark=dark)
    for one, other in (("fail", "pass"), ("warn", "pass"), ("false", "true")):
        assert apart(look[one], look[other], kind) >= 14, (one, other)


def test_a_verdict_differs_in_more_than_colour() -> None:
    css = stylesheet()
    assert ".badge.tone-warn::before" in css
    assert "clip-path: polygon" in css
    heights = dict(re.findall(r"\.results (?:i|\.tone-([a-z-]+))[^{]*\{[^}]*?height: (\d+)px", css))
    assert len(set(heights.values())) == len(heights) >= 4


def test_charts_and_other_stylesheets_have_no_colours_of_their_own() -> None:
    look = colours()
    assert set(CLASS_COLOURS.values()) | set(VERDICT_COLOURS.values()) <= set(look.values())
    css = stylesheet().removeprefix(names())
    for code in {*CLASS_COLOURS.values(), *VERDICT_COLOURS.values()}:
        assert f'svg [fill="{code}"]' in css, "dark pages would draw it as on paper"
        assert f'svg [stroke="{code}"]' in css
    drawn = set(re.findall(r'\[(?:fill|stroke)="(#[0-9a-f]{6})"\]', css))
    assert drawn <= set(look.values())
    for file in ("src/claimlab/web/static/workspace.css", "docs/assets/site.css"):
        text = (ROOT / file).read_text("utf-8")
        assert not re.search(r"(?<!&)#[0-9a-fA-F]{3,8}\b(?=\s*[;},)])", text), file
        assert "@import" not in text
