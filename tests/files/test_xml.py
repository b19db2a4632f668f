"""XML files: what becomes of elements, and what is refused."""

from __future__ import annotations

import pytest

from claimlab.core.errors import UnreadableFile
from claimlab.files.xml import read_xml_file


def rows_of(content: str) -> list[dict[str, object]]:
    return read_xml_file(content, "a.xml", "utf-8").frame.to_dicts()


def test_paragraphs_are_one_text_and_marks_inside_a_sentence_are_left_out() -> None:
    article = "<a id='1'><p>One <b>bold</b>\n word.</p><p>Two &amp; more.</p></a>"
    assert (
        rows_of(f"<all>{article}{article}</all>")
        == [{"id": "1", "text": "One bold word.\nTwo & more."}] * 2
    )


def test_a_file_without_elements_that_repeat_is_one_record() -> None:
    content = "<a><text>A claim.</text><link>x</link><link>y</link><link>z</link></a>"
    assert rows_of(content) == [{"text": "A claim.", "link": '["x", "y", "z"]'}]


def test_elements_of_text_alone_are_records() -> None:
    assert rows_of("<all><claim>One.</claim><claim>Two.</claim></all>") == [
        {"claim": "One."},
        {"claim": "Two."},
    ]


def test_an_object_beside_a_few_others_is_no_record() -> None:
    content = "<a><user><name>A</name><age>3</age></user><text>One.</text><label>true</label></a>"
    assert len(rows_of(content)) == 1


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "xxxxxxxxxx"> <!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY b SYSTEM "file:///etc/passwd">',
    ],
)
def test_entities_are_refused(declared: str) -> None:
    with pytest.raises(UnreadableFile, match="declares entities"):
        rows_of(f"<!DOCTYPE all [{declared}]><all><text>&b;</text></all>")
