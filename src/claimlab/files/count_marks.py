"""The count of marks in one fast pass. The loop is C (_marks.c); where it was not built, NumPy
counts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from claimlab.files.marks import Marks

# The state of _marks.c, in its order.
_STATE = (
    "size",
    "nul",
    "quotes",
    "wrong",
    "delimiters",
    "fewest",
    "most",
    "newlines",
    "outside",
    "blank",
    "returns",
    "pairs",
    "inside",
    "pending",
    "row",
    "last",
    "kind",
)
_CLOSING = 1  # the kind of mark that a quote is which closes a cell


def count_marks(pieces: Iterable[bytes], delimiter: str) -> Marks:
    """The marks of a file given in pieces (each but the last a multiple of 64 bytes long)."""
    try:
        from claimlab.files._marks import count
    except ImportError:
        from claimlab.files.slow_marks import count as slow_count

        return slow_count(pieces, delimiter)
    state = array("q", (-1 if name in ("nul", "fewest", "last") else 0 for name in _STATE))
    last_byte = b""
    for piece in pieces:
        count(piece, ord(delimiter), state)
        last_byte = piece[-1:]
    return _marks(dict(zip(_STATE, state, strict=True)), last_byte)


def _marks(s: dict[str, int], last_byte: bytes) -> Marks:
    """What the state comes to at the end of the file, where the last row may lack its line end."""
    marks = Marks(
        size=s["size"],
        nul=s["nul"] if s["nul"] >= 0 else None,
        quotes=s["quotes"],
        delimiters=s["delimiters"],
        fewest=s["fewest"] if s["fewest"] >= 0 else None,
        most=s["most"],
        newlines=s["newlines"],
        newlines_outside=s["outside"],
        blank_outside=s["blank"],
        returns=s["returns"],
        pairs=s["pairs"],
        ends_with_newline=last_byte == b"\n",
    )
    cut = last_byte == b"\r"  # half a line end
    if s["kind"] == _CLOSING and s["last"] != s["size"] - 1:
        s["wrong"] = 1
    marks.well_formed = not s["wrong"] and not s["inside"] and not cut
    if marks.size and not marks.ends_with_newline and not s["inside"]:
        if cut and s["row"] == s["size"] - 1:
            marks.blank_outside += 1
        else:
            marks.note(s["pending"], s["pending"])
    return marks
