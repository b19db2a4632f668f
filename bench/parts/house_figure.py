"""The rooms of a checkout as a figure: floors are rows, the width of a room is its size, and a line
leads from a room to each that it imports from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from claimlab.pages.drawing import Drawing, text_width
from parts.ruler import FRONT, TRUNK, House

ACROSS = 1000.0  # pixels of the longest floor
ROOM_HIGH, FLOOR_HIGH = 44.0, 118.0  # pixels of a room, and from one floor to the next
LEAST_WIDE, BETWEEN = 62.0, 12.0  # pixels of the smallest room, and between two
INK, PAPER = "#1b2733", "#ffffff"
TRUNK_COLOUR, LEAF_COLOUR = "#d9e6f5", "#dff0d8"
IMPORT, UPWARD = "#5b7ca8", "#c0392b"
Box = tuple[float, float, float, float]  # left, top, width, height


def figure(house: House, title: str) -> str:
    """The SVG of a checkout."""
    sizes = house.tokens()
    rows = floors(house)
    boxes = placed(rows, {room: tokens for (_, room), tokens in sizes.items()})
    high = FLOOR_HIGH * (len(rows) - 1) + ROOM_HIGH
    drawing = Drawing(ACROSS, high)
    drawing.left, drawing.top, drawing.bottom = 132.0, 64.0, 40.0
    drawing.bar((-132, -64, ACROSS + 146, high + 104), PAPER, "")
    arrows, upward = house.arrows(), house.upward()
    for (room, other), imports in sorted(arrows.items()):
        draw_arrow(drawing, boxes, room, other, imports)
    for room, other in sorted(upward):
        draw_upward(drawing, boxes, room, other)
    leaves = {room for (package, room) in sizes if package != TRUNK}
    for name, row in rows:
        middle = boxes[row[0]][1] + ROOM_HIGH / 2
        drawing.text(-124, middle, name, size=12)
        for room in row:
            tokens = sum(count for (_, own), count in sizes.items() if own == room)
            draw_room(
                drawing, boxes[room], room, tokens, LEAF_COLOUR if room in leaves else TRUNK_COLOUR
            )
    drawing.text(-124, -46, title, size=15)
    drawing.text(-124, -24, caption(house), size=12)
    drawing.text(-124, high + 22, LEGEND, size=12)
    return coloured(drawing.svg())


LEGEND = (
    "A line leads down from a room to one that it imports from; thicker: more imports. Red, dashed:"
    " a string of a lower room names a room that is not below it."
)


def caption(house: House) -> str:
    sizes = house.tokens()
    trunk = sum(tokens for (package, _), tokens in sizes.items() if package == TRUNK)
    leaf = sum(sizes.values()) - trunk
    beside = f", leaf {leaf:,}" if leaf else ""
    return (
        f"{len(house.files)} files; tokens: trunk {trunk:,}{beside};"
        f" {sum(house.arrows().values()):,} imports between rooms,"
        f" {sum(house.upward().values())} names of rooms that are not below, in strings"
    )


def floors(house: House) -> list[tuple[str, list[str]]]:
    """The rows from the top: the leaves, then the floors of the trunk."""
    rooms = house.tokens()
    leaves = sorted(room for (package, room) in rooms if package != TRUNK and room != FRONT)
    rows = [("leaves", leaves)] if leaves else []
    for floor in sorted(set(house.floors.values()), reverse=True):
        row = [
            room for room, its in house.floors.items() if its == floor and (TRUNK, room) in rooms
        ]
        rows.append((f"floor {floor}", row))
    return [(name, row) for name, row in rows if row]


def placed(rows: Sequence[tuple[str, list[str]]], tokens: Mapping[str, int]) -> dict[str, Box]:
    """Where each room is; all floors have one scale."""
    wide = min(
        (ACROSS - BETWEEN * (len(row) - 1) - LEAST_WIDE * len(row))
        / sum(tokens[room] for room in row)
        for _, row in rows
    )
    boxes = {}
    for number, (_, row) in enumerate(rows):
        widths = [LEAST_WIDE + wide * tokens[room] for room in row]
        left = (ACROSS - sum(widths) - BETWEEN * (len(row) - 1)) / 2
        for room, width in zip(row, widths, strict=True):
            boxes[room] = (left, FLOOR_HIGH * number, width, ROOM_HIGH)
            left += width + BETWEEN
    return boxes


def draw_room(drawing: Drawing, box: Box, room: str, tokens: int, colour: str) -> None:
    left, top, width, _ = box
    looks = dict(zip(("x", "y", "width", "height"), box, strict=True))
    drawing.mark(
        "rect", {**looks, "fill": colour, "stroke": INK, "rx": 4.0}, hover=f"{room}: {tokens:,}"
    )
    size = min(13.0, 13.0 * (width - 6) / text_width(room, 13.0))
    drawing.text(left + width / 2, top + 15, room, anchor="middle", size=size)
    drawing.text(left + width / 2, top + 32, f"{tokens / 1000:.1f}k", anchor="middle", size=11)


def draw_arrow(
    drawing: Drawing, boxes: Mapping[str, Box], room: str, other: str, imports: int
) -> None:
    if room not in boxes or other not in boxes:
        return
    start, end = boxes[room], boxes[other]
    drawing.line(
        (start[0] + start[2] / 2, start[1] + ROOM_HIGH),
        (end[0] + end[2] / 2, end[1]),
        colour=IMPORT,
        width=0.5 + math.log2(imports + 1) / 2,
        opacity=0.45,
        hover=f"{room} imports {imports} times from {other}",
    )


def draw_upward(drawing: Drawing, boxes: Mapping[str, Box], room: str, other: str) -> None:
    if room not in boxes or other not in boxes:
        return
    start, end = boxes[room], boxes[other]
    drawing.line(
        (start[0] + start[2] / 2 + 8, start[1]),
        (end[0] + end[2] / 2 + 8, end[1] + ROOM_HIGH),
        colour=UPWARD,
        width=1.6,
        dashed=True,
        hover=f"{room} names {other} in a string",
    )


def coloured(svg: str) -> str:
    """With dark ink on white paper wherever it is shown."""
    return svg.replace("<text ", f'<text fill="{INK}" ')
