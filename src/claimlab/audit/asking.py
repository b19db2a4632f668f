"""What a model is asked about feasibility: the guide's question (its appendix C.3), three answers,
rationale first.

The guide asks it twice, with and without the sentence that a search is at hand; where search
results are there, the model can also be shown them. The words are the prompt "feasibility"; the
kinds of missing information are those that the guide lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from claimlab.llm.judge import Case, Reasoned
from claimlab.llm.messages import untrusted
from claimlab.llm.prompts import Prompt

Reading = Literal["without search", "search promised", "search results"]
READINGS: tuple[Reading, ...] = get_args(Reading)
ALONE, PROMISED, RESULTS = READINGS
Answer = Literal["feasible", "feasible with web search", "not feasible"]
Kind = Literal["person", "place", "text", "media", "time", "no claim"]
READ = 1500  # characters of a text; the rest is rarely needed to see whether it can be checked
SHOWN = 5  # pieces of evidence
MAX_TOKENS = 400


class Opinion(Reasoned):
    """A model's answer on one statement."""

    missing: list[Kind]
    answer: Answer

    def feasible(self, reading: Reading) -> bool:
        """Whether the statement counts as feasible: without a search, one that needs a search does
        not.
        """
        return self.answer == "feasible" if reading == ALONE else self.answer != "not feasible"


_PARTS: dict[Reading, str] = {ALONE: "alone", PROMISED: "promised", RESULTS: "results"}


def case_of(
    prompt: Prompt, record: str, text: str, reading: Reading, results: Sequence[str] = ()
) -> Case:
    """The question about one statement; `results` are shown in the reading that has them."""
    system = [prompt.text("system"), prompt.text(_PARTS[reading]), prompt.text("ask")]
    data = [untrusted(text[:READ], "statement")]
    if reading == RESULTS:
        data.insert(0, untrusted("\n\n".join(results) or prompt.text("nothing_found"), "results"))
    return Case(record, "\n\n".join(system), "\n\n".join(data))
