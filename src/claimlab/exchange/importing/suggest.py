"""A model's suggestion where an import has to ask: which column, and what its values mean. It sees
names of columns, a few values, ten rows with personal data masked, and the README. Every claim of
it is checked against the data; what holds is put first among the answers with its reason, and is
asked all the same: a model decides nothing, and where it gave no answer, that is said.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import Choice, Question, UnmappedLabels
from claimlab.core.labels import is_blank
from claimlab.core.types import JsonObject
from claimlab.exchange.importing.layouts import Gathered
from claimlab.exchange.importing.plan import shown, tally
from claimlab.exchange.importing.readings import tasks_of
from claimlab.llm.asking import ask_sync
from claimlab.llm.messages import Answer, Request, untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile
from claimlab.llm.prompts import Prompts
from claimlab.tasks import TASKS
from claimlab.text.personal import mask_personal

PROMPT = "import-suggestion"
ROWS_SHOWN, VALUES_SHOWN, COLUMNS_SHOWN = 10, 6, 40
CELL_CHARACTERS, README_CHARACTERS, REASON_CHARACTERS = 160, 4_000, 200
REPLY_TOKENS = 700
VERACITY = "veracity"

AnyQuestion = Question | UnmappedLabels


class Suggestion(BaseModel):
    """What a model says of a table: nothing of it is believed unchecked."""

    model_config = ConfigDict(extra="forbid")

    text: str | None
    label: str | None
    about: str
    meanings: dict[str, Literal["true", "false", "mixed", "unknown"]]
    reason: str
    quote: str | None


def suggested(
    question: AnyQuestion, table: Gathered, label: str | None, profile: str | Profile
) -> AnyQuestion:
    """The question with the answer that a model suggests before the others, where its claims hold;
    or with the reason why there is none. `label` is the column that the question is about."""
    provider = open_provider(profile, calls=Calls(mode="live"))
    name = provider.profile.chosen_model()
    answer: Answer[Suggestion] = ask_sync(provider, _request(table))
    if answer.value is None:
        why = answer.detail or answer.failure or "no answer"
        return _said(question, f"The model '{name}' gave no usable answer: {shown(why, 200)}")
    faults = checked(answer.value, table)
    own = _choice(answer.value, question, label)
    reason = shown(answer.value.reason, REASON_CHARACTERS)
    if faults or own is None:
        said = "; ".join(faults) or "it does not answer this question"
        return _said(question, f"The suggestion of the model '{name}' is left out: {said}.")
    quoted = "a quotation that the README has" if answer.value.quote else "no words of a README"
    words = f"suggested by the model '{name}', which gives {quoted}: {reason}"
    known = [one for one in question.choices if _same(one, own)]
    rest = [one for one in question.choices if not _same(one, own)]
    meant = f"{known[0].words}; {words}" if known else words
    question.choices = [own._replace(words=meant), *rest]
    question.__dict__["whole"] = ()
    if isinstance(question, Question):
        question.about_meaning = True  # never an answer by default
    return _said(question, "")


def checked(said: Suggestion, table: Gathered) -> list[str]:
    """What of a suggestion the data contradict."""
    columns = table.frame.columns
    faults = [
        f"there is no column '{shown(column, 40)}'"
        for column in (said.text, said.label)
        if column is not None and column not in columns
    ]
    if faults or said.label is None:
        return faults
    values = [v for v in table.text(said.label).drop_nulls().unique().to_list() if not is_blank(v)]
    strange = sorted(set(said.meanings) - set(values))
    faults += [f"'{said.label}' holds no '{shown(strange[0], 40)}'"] if strange else []
    if said.about == VERACITY and set(values) - set(said.meanings):
        faults.append("it does not say what every value means")
    if (
        said.about in TASKS.names()
        and said.about != VERACITY
        and said.about not in tasks_of(values)
    ):
        faults.append(f"the task '{said.about}' does not read these values")
    readme = " ".join(" ".join(table.about.values()).split())
    if said.quote and " ".join(said.quote.split()) not in readme:
        faults.append("the README does not have the words that it quotes")
    return faults


def _choice(said: Suggestion, question: AnyQuestion, label: str | None) -> Choice | None:
    """The suggestion as an answer to this question."""
    asked = {choice.argument for choice in question.choices}
    if "map" in asked and said.label in (None, label):
        if said.about == VERACITY:
            pairs = ",".join(f"{value}={verdict}" for value, verdict in said.meanings.items())
            return Choice("map", pairs, "") if set(said.meanings.values()) != {"unknown"} else None
        return Choice("map", said.about if said.about in TASKS.names() else "label_raw", "")
    for role, column in (("label", said.label), ("text", said.text)):
        if role in asked and column is not None:
            return Choice(role, column, "")
    return None


def _same(choice: Choice, other: Choice) -> bool:
    if choice.argument != other.argument:
        return False
    both = [set(str(one.value).split(",")) for one in (choice, other)]
    return both[0] == both[1]


def _said(question: AnyQuestion, words: str) -> AnyQuestion:
    """The question with a remark, worded again from its choices."""
    question.problem = f"{question.problem} {words}".rstrip()
    start = question.todo.partition(": ")[0]
    question.todo = f"{start}: {' or '.join(map(str, question.choices))}."
    question.args = (f"{question.problem} {question.todo}",)
    return question


def _request(table: Gathered) -> Request[Suggestion]:
    tasks = ", ".join(name for name in TASKS.names() if name != VERACITY)
    return Request.of(
        untrusted(json.dumps(_shown_of(table), ensure_ascii=False, indent=1)),
        system=Prompts()[PROMPT].text("system", tasks=tasks),
        schema=Suggestion,
        max_tokens=REPLY_TOKENS,
        seed=0,
        prompt_name=PROMPT,
    )


def _shown_of(table: Gathered) -> JsonObject:
    """What a model sees of a table, with personal data masked."""
    hidden = table.hidden({})
    names = [name for name in table.frame.columns if name not in hidden][:COLUMNS_SHOWN]
    every = max(1, table.frame.height // ROWS_SHOWN)
    rows = pl.DataFrame(
        {name: _masked(table.text(name).gather_every(every).head(ROWS_SHOWN)) for name in names}
    )
    readme = "\n\n".join(table.about.values())[:README_CHARACTERS]
    return {
        "columns": {name: _values(table.text(name)) for name in names},
        "rows": rows.to_dicts(),
        "readme": _masked(pl.Series([readme]))[0],
    }


def _values(column: pl.Series) -> JsonObject:
    values: Sequence[str] = _masked(tally(column)["value"].head(VALUES_SHOWN)).to_list()
    return {"different": column.n_unique(), "commonest": list(values)}


def _masked(texts: pl.Series) -> pl.Series:
    return mask_personal(texts.cast(pl.String).str.slice(0, CELL_CHARACTERS))
