"""Text of any script in the terminal, on a page and in LaTeX: nothing that a reader sees as one is
broken.
"""

from __future__ import annotations

import unicodedata

import pytest

from claimlab.core.graphemes import beginning, graphemes
from claimlab.pages.blocks import Items, Report, Table, Text, excerpt
from claimlab.pages.drawing import fitted
from claimlab.pages.html import to_html
from claimlab.pages.latex import escape, to_latex
from claimlab.pages.terminal import columns_of, shorten, to_text

TEXTS = {
    "Arabic": "عَاجِلٌ: اللقاح يقتل مليون شخص في يوم واحد " * 3,
    "Hindi": "चौंकाने वाला: कांग्रेस ने टीके में ज़हर मिलाया " * 3,
    "Thai": "ช็อก วัคซีนทำให้คนเสียชีวิตนับล้านคนในวันเดียวตามที่รัฐบาลกล่าวถึงพำนักลี้ภัย" * 2,
    "Chinese": "震惊：疫苗有毒，一天之内百万人死亡，政府和医院都没有说出真相。" * 3,
}
WIDTH = 40


@pytest.mark.parametrize("script", TEXTS)
def test_no_line_begins_with_a_mark_or_is_too_wide(script: str) -> None:
    text = f"In the set '{TEXTS[script]}' and 7 more words are told by the label."
    lines = to_text([Text(text)], width=WIDTH).splitlines()
    assert len(lines) > 3
    for line in lines:
        assert columns_of(line) <= WIDTH
        assert unicodedata.category(line[0])[0] != "M"
    assert any("more" in line for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize("script", TEXTS)
def test_what_is_cut_ends_between_two_characters(script: str) -> None:
    text = TEXTS[script].strip()
    whole = graphemes(text)
    starts = {"".join(whole[:n]).rstrip() for n in range(len(whole) + 1)}
    for size in range(5, 40):
        assert excerpt(text, size).removesuffix("…").rstrip() in starts
        assert shorten(text, size).removesuffix("…").rstrip() in starts
        assert fitted(text, 10.0 * size).removesuffix("…").rstrip() in starts
        assert len(beginning(text, size)) <= size


def test_quoted_words_that_are_read_from_the_right_stand_by_themselves() -> None:
    words = "The words ('عاجل', 'مليون' and 7 more) tell, and 'plain' too."
    page = to_html(Report("r", "", [Text(words), Items([words])]))
    assert page.count("<bdi>عاجل</bdi>") == page.count("<bdi>مليون</bdi>") == 2
    assert "<bdi>plain" not in page
    hostile = to_html(Report("r", "", [Text("'<script>عاجل</script>'")]))
    assert "<script>عاجل" not in hostile


def test_latex_has_the_letters_for_engines_that_print_them_and_codes_for_the_one_that_does_not() -> (
    None
):
    assert escape("عاجل مليون!") == (
        "\\script{ARABIC}{عاجل مليون}"
        "{[U+0639][U+0627][U+062C][U+0644] [U+0645][U+0644][U+064A][U+0648][U+0646]}!"
    )
    page = to_latex(Report("r", "", [Table(("a",), [["चौंकाने"], ["震惊"]], "b")]))
    assert "\\script{DEVANAGARI}{चौंकाने}" in page
    assert "\\scriptfont{DEVANAGARI}{Noto Serif Devanagari}" in page
    assert "\\script{" not in to_latex(Report("r", "", [Text("plain")]))
