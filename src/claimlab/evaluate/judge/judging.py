"""What a judge and annotators said of the cases of a run, and what the judge is worth by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject
from claimlab.detect.own_words import ABSTENTIONS
from claimlab.evaluate.judge.cases import RationaleCase, left_out
from claimlab.evaluate.judge.opinions import Contradiction, Judge, NoJudge, family_of
from claimlab.evaluate.judge.people import (
    OPEN,
    QUESTION,
    Verdicts,
    agreement_between,
    agreement_in_words,
    changed,
    length_bias,
    measured,
    rates,
    score_band,
)
from claimlab.evaluate.judge.threshold import DEFAULT_THRESHOLD, ThresholdFit, fit, verdict
from claimlab.evaluate.judge.views import JudgedCase
from claimlab.llm.judge import Opinion, agreement_of_runs, failures_of

SCORE = (  # the question that a judge's own value answers; its verdict answers QUESTION
    "contradiction"
)
AnyOpinion: TypeAlias = Opinion[Any]
UNVALIDATED = "unvalidated: it was not compared with annotators"
UNPROBED = "unvalidated: order, length and wording were not probed (`probes`)"


def _abstained(cases: Sequence[RationaleCase], kind: str) -> dict[str, int]:
    """An abstention is neither right nor wrong; where a fact-check exists, there was something to
    be found.
    """
    abstained = [c for c in cases if c.left_out == kind]
    return {
        "n": len(abstained),
        "with_article": sum(bool((c.article or "").strip()) for c in abstained),
    }


@dataclass(frozen=True)
class RunJudging:
    """What a judge and annotators said of the cases of a run; `settled` is one verdict a record,
    `given` the threshold that was set, `probed` its opinions on changed cases, and `asked` the
    model that the run asked."""

    judge: Judge
    cases: Sequence[RationaleCase]
    people: Verdicts
    settled: Mapping[str, str]
    opinions: Mapping[str, AnyOpinion]
    given: float | None
    probed: Mapping[str, Mapping[str, AnyOpinion]] = field(default_factory=dict)
    asked: object = None

    @cached_property
    def fitted(self) -> ThresholdFit | None:
        """The threshold of a score, from the cases that people called wrong or not wrong; null
        where there is nothing to fit or it was set. Open cases are left out, as people could not
        say either."""
        values = {i: o.value for i, o in self.opinions.items() if o.value is not None}
        both = [i for i in values if self.settled.get(i, OPEN) != OPEN]
        if self.judge.scale != "score" or self.given is not None or not both:
            return None
        return fit([float(values[i]) for i in both], [self.settled[i] for i in both])

    @property
    def threshold(self) -> float:
        if self.fitted is not None:
            return self.fitted.chosen
        return DEFAULT_THRESHOLD if self.given is None else self.given

    @cached_property
    def verdicts(self) -> dict[str, str]:
        return self._verdicts(self.opinions)

    def _verdicts(self, opinions: Mapping[str, AnyOpinion]) -> dict[str, str]:
        return {
            i: o.value if isinstance(o.value, str) else verdict(float(o.value), self.threshold)
            for i, o in opinions.items()
            if o.value is not None
        }

    @cached_property
    def probes(self) -> dict[str, JsonObject]:
        """How far the verdicts depend on the order, length and wording of what the judge reads."""
        changes = {
            name: changed(self.verdicts, self._verdicts(more)) for name, more in self.probed.items()
        }
        return {name: change for name, change in changes.items() if change is not None}

    @property
    def same_family(self) -> str | None:
        """The family of the judge, where the model that it judges is of the same one."""
        family = family_of(self.judge.parameters().get("model"))
        return family if family is not None and family == family_of(self.asked) else None

    @property
    def against_people(self) -> JsonObject | None:
        """The judge held against annotators, where they called a case wrong or not wrong."""
        if self.fitted is not None:
            return self.fitted.held_out
        both = [i for i in self.verdicts if self.settled.get(i, OPEN) != OPEN]
        answers, truth = [self.verdicts[i] for i in both], [self.settled[i] for i in both]
        return measured(answers, truth) if both else None

    @property
    def standing(self) -> str:
        if isinstance(self.judge, NoJudge):
            return self.judge.standing
        worth = UNVALIDATED
        if self.against_people is not None:
            worth = f"in agreement with annotators on {agreement_in_words(self.against_people)}"
        parts = [self.judge.standing, worth]
        if self.same_family is not None:
            parts.append(f"of the same family ({self.same_family}) as the run: use another model")
        if isinstance(self.judge, Contradiction) and not self.probes:
            parts.append(UNPROBED)
        return "; ".join(part for part in parts if part)

    @property
    def validated(self) -> bool:
        """Whether it was compared with annotators, and a model was probed."""
        probed = bool(self.probes) or not isinstance(self.judge, Contradiction)
        return self.against_people is not None and probed

    @property
    def cost(self) -> float | None:
        """What all opinions cost; null where that is not known of one."""
        costs = [opinion.cost for opinion in self.opinions.values()]
        known_costs = [cost for cost in costs if cost is not None]
        return round(sum(known_costs), 9) if len(known_costs) == len(costs) else None

    def summary(self, before: Mapping[str, str]) -> JsonObject:
        cases, verdicts, settled = self.cases, self.verdicts, self.settled
        correct = {c.record_id: c.correct for c in cases if c.correct is not None}
        opinions = list(self.opinions.values())
        return {
            "judge": self.judge.name,
            "settings": self.judge.parameters(),
            "standing": self.standing,
            "validated": self.validated,
            "predictions": len(cases),
            "judged": len(verdicts),
            "failed": failures_of(opinions),
            "left_out": left_out(cases),
            "abstained": {kind: _abstained(cases, kind) for kind in ABSTENTIONS},
            "threshold": self.threshold if self.judge.scale == "score" else None,
            "threshold_fit": self.fitted and asdict(self.fitted),
            "verdicts": dict(sorted(Counter(verdicts.values()).items())),
            "agreement_with_people": self.against_people,
            "agreement_between_people": agreement_between(self.people),
            "length_bias": length_bias(cases, verdicts, settled),
            "agreement_of_runs": agreement_of_runs(opinions),
            "probes": self.probes,
            "drift": changed(before, verdicts),
            "same_family": self.same_family,
            "score_band": score_band(
                list(correct.values()), rates(settled or verdicts, correct)["false_incorrect"]
            ),
            "by_judge": rates(verdicts, correct) if verdicts else None,
            "by_people": rates(settled, correct) if settled else None,
            "people_on_other_records": len(set(settled) - {c.record_id for c in cases}),
            "cost": self.cost,
        }

    def annotations(self, standing: str) -> list[JsonObject]:
        """The judge's own value and its verdict."""
        rows: list[JsonObject] = []
        for record, opinion in self.opinions.items():
            meta = {
                "runs": opinion.runs,
                "failures": opinion.failures or None,
                "cost": opinion.cost,
                "standing": standing,
            }
            base = {
                "record_id": record,
                "annotator": self.judge.name,
                "annotator_kind": "model",
                "meta": meta_json(meta),
            }
            value = None if opinion.value is None else str(opinion.value)
            rows.append({**base, "question": SCORE, "value": value, "rationale": opinion.rationale})
            verdict_of_case = self.verdicts.get(record)
            rows.append({**base, "question": QUESTION, "value": verdict_of_case, "rationale": None})
        return rows

    def row(self, case: RationaleCase) -> JudgedCase:
        """What the page shows of a case that the judge or people had something to say on."""
        opinion: AnyOpinion = self.opinions.get(case.record_id, Opinion(""))
        return JudgedCase(
            **vars(case),
            value=opinion.value,
            verdict=self.verdicts.get(case.record_id),
            people=self.settled.get(case.record_id),
            analysis=opinion.rationale,
        )
