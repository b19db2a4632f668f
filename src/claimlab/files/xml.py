"""Tables from XML: elements that repeat are records, and attributes and inner elements their
fields; otherwise the whole file is one record.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias
from xml.parsers.expat import ExpatError, ParserCreate

from claimlab.core.errors import UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.files.layout import FileLayout
from claimlab.files.raw import RawTable, Refused, typed_table

Value: TypeAlias = str | JsonObject

MOST_LEVELS = 100  # elements inside each other
TEXT_FIELD = "text"  # the field of what an element says beside its attributes


@dataclass
class _Element:
    attributes: JsonObject
    children: list[tuple[str, Value]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)  # of its text, that of its children included
    is_mixed: bool = False  # with text of its own between its children

    def value(self) -> Value:
        """Its text, or its fields where it has several. Paragraphs are one text."""
        tags = {tag for tag, _ in self.children}
        inner = [value for _, value in self.children if isinstance(value, str)]
        is_text = self.is_mixed or not self.children
        if is_text or (len(tags) == 1 and len(inner) == len(self.children)):
            text = " ".join("".join(self.pieces).split()) if is_text else "\n".join(inner)
            own = {TEXT_FIELD: text} if text else {}
            return {**self.attributes, **own} if self.attributes else text
        groups: dict[str, list[Value]] = {}
        for tag, value in self.children:
            groups.setdefault(tag, []).append(value)
        fields = {tag: each[0] if len(each) == 1 else each for tag, each in groups.items()}
        return {**self.attributes, **fields}

    def records(self) -> list[JsonObject]:
        """The children, where most are objects of one name or all are texts of one; or itself."""
        (tag, most), *_ = Counter(tag for tag, _ in self.children).most_common(1) or [("", 0)]
        alike = [value for each, value in self.children if each == tag]
        are_objects = all(isinstance(value, dict) for value in alike)
        enough = 2 * most if are_objects else most
        if most > 1 and enough >= len(self.children):
            return [value if isinstance(value, dict) else {tag: value} for value in alike]
        value = self.value()
        return [value] if isinstance(value, dict) else [{TEXT_FIELD: value}]


def read_xml_file(content: str, name: str, encoding: str) -> RawTable:
    """The records of an XML file. It may not declare entities, which could grow without end."""
    parser, stack, root = ParserCreate(), [_Element({})], _Element({})

    def start(_tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > MOST_LEVELS:
            raise UnreadableFile(f"'{name}' is nested too deeply to be a table.", "Flatten it.")
        stack.append(_Element(dict(attributes)))

    def end(tag: str) -> None:
        nonlocal root
        root = stack.pop()
        stack[-1].children.append((tag, root.value()))
        stack[-1].pieces.append("".join(root.pieces))

    def characters(text: str) -> None:
        stack[-1].pieces.append(text)
        stack[-1].is_mixed |= bool(text.strip())

    def entity(*_: object) -> NoReturn:
        raise UnreadableFile(
            f"'{name}' declares entities, which claimlab does not follow.",
            "Save the records as CSV, JSON or JSONL, then give that.",
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = characters, entity
    try:
        parser.Parse(content, True)
    except ExpatError as error:
        raise UnreadableFile(f"'{name}' is not XML ({error}).", "Fix it or get it again.") from None
    if (rows := root.records()) == [{TEXT_FIELD: ""}]:
        raise UnreadableFile(f"'{name}' holds no records.", "Give a file that holds records.")
    return typed_table(rows, name, FileLayout("XML", encoding), Refused(unit="record"))
