"""A ranking as tables: the candidates of every prompt, the candidates without a rank, and how many of the kept
candidates are usable.
"""

from collections.abc import Iterator, Mapping

from robogaze.ranking import PromptRanking, RankedCandidate, Ranking, Screening
from robogaze.ranking.order import Risk
from robogaze.reporting.tables.result_table import ResultTable, Row, cell_text
from robogaze.reporting.wording import count, listed

_RISKS_NAMED = 3
"""The number of risks that a reason names; the largest come first."""

_PROMPTS_NAMED = 3
"""The number of prompts that a note names."""

_STATES = {"partial": "partially covered", "not_examined": "not examined", "undecided": "undecided"}


def ranking_tables(result: Ranking) -> Iterator[ResultTable]:
    """Every table, the ranking first."""
    yield _ranking(result)
    if result.unranked:
        yield _unranked(result)
    if result.screening is not None:
        yield _screening(result.screening, result)


def reason_of(ranked: RankedCandidate, names: Mapping[str, str] | None = None) -> str:
    """Why a candidate has its rank: its largest risks and, after a tie, what broke the tie. `names` maps the ids of
    event types to their names.
    """
    risks = [risk_text(risk, names or {}) for risk in ranked.risks[:_RISKS_NAMED]]
    if (more := len(ranked.risks) - _RISKS_NAMED) > 0:
        risks.append(count(more, "more risk"))
    return f"{', '.join(risks) or 'nothing found, every dimension covered'}{tie_text(ranked)}"


def risk_text(risk: Risk, names: Mapping[str, str]) -> str:
    """A risk in words, with its probability."""
    if risk.kind in _STATES:
        return f"{count(risk.count, 'dimension')} {_STATES[risk.kind]} ({risk.probability:.2f})"
    verdict = "" if risk.kind == "event" else f"{risk.kind} "
    severity = "without a severity" if risk.severity is None else f"severity {risk.severity}"
    confidence = "" if risk.confidence is None else f", confidence {risk.confidence:.2f}"
    return f"{verdict}{names.get(risk.type, risk.type)} {severity}{confidence} ({risk.probability:.2f})"


def tie_text(ranked: RankedCandidate) -> str:
    """The candidates that this candidate is tied with, and what broke the tie; empty if there is no tie."""
    if not ranked.tied:
        return ""
    return f"; tied with {listed(ranked.tied)}, ordered by {ranked.tiebreak}"


def id_sentence(result: Ranking) -> str:
    """A sentence with the number of prompts in which the clip id alone decides which of the tied candidates are kept;
    empty if there is no such prompt.
    """
    number = sum(prompt.decided_by_id for prompt in result.prompts)
    if not number:
        return ""
    return (
        f"In {number} of {count(len(result.prompts), 'prompt')}, candidates are tied and the clip id decides "
        f"which of them are kept."
    )


def ranking_headline(result: Ranking) -> str:
    """The number of candidates that are kept, and the number of all candidates."""
    candidates = sum(len(prompt.ids) for prompt in result.prompts)
    without = f", {count(len(result.unranked), 'clip')} without a rank" if result.unranked else ""
    kept, prompts = len(result.kept), count(len(result.prompts), "prompt")
    return f"{kept} of {count(candidates, 'candidate')} of {prompts} kept{without}"


def screening_sentence(screening: Screening) -> str:
    """The precision of the rule, followed by the precisions of the baseline, a random order and the best possible
    order.
    """
    rule = screening.measures[0]
    if not rule.precision.defined:
        return f"{screening.precision} is undefined: {rule.precision.why}"
    named = {measure.name: measure for measure in screening.measures}
    text = f"{screening.precision} {cell_text(rule.precision)}"
    others = [name for name in dict.fromkeys((screening.baseline, "random", "oracle")) if name != rule.name]
    return f"{text}; {', '.join(f'{name} {named[name].precision.value:.2f}' for name in others)}"


def _ranking(result: Ranking) -> ResultTable:
    rows: tuple[Row, ...] = tuple(_row(prompt, ranked) for prompt in result.prompts for ranked in prompt.ranked)
    columns = ("prompt", "rank", "clip", "keep", "usability", "verdict", "events", "reason")
    notes = (
        f"Clips are grouped by {result.key}. Usability: the product of 1 - r over all risks r, with the weights "
        f"{result.weights.id!r} (docs/rank.md).",
        "Tied candidates are ordered by fewer events, then by shorter total time of events, then by clip id.",
        *filter(None, (id_sentence(result),)),
    )
    return ResultTable("ranking", ranking_headline(result), columns, rows, notes)


def _row(prompt: PromptRanking, ranked: RankedCandidate) -> Row:
    candidate = ranked.candidate
    keep, verdict_ = "yes" if ranked.kept else "no", candidate.annotation.verdict
    events = len(candidate.events)
    return prompt.prompt, ranked.rank, candidate.id, keep, ranked.usability, verdict_, events, reason_of(ranked)


def _unranked(result: Ranking) -> ResultTable:
    rows: tuple[Row, ...] = tuple((clip.prompt, clip.id, clip.run, clip.reason) for clip in result.unranked)
    notes = (
        "These clips are never kept. If the prompt of a clip is known, the clip still counts as a candidate of "
        "that prompt.",
    )
    title = f"{count(len(rows), 'clip')} without a rank"
    return ResultTable("unranked", title, ("prompt", "clip", "run", "reason"), rows, notes)


def _screening(screening: Screening, result: Ranking) -> ResultTable:
    rows: list[Row] = []
    for measure in screening.measures:
        pair = measure.difference
        cells: Row = (None, None, None) if pair is None else (pair.difference, pair.p, pair.holm)
        rows.append((measure.name, measure.precision, measure.severe, *cells))
    difference = f"minus {screening.baseline}"
    columns = ("measure", screening.precision, "severe failures kept", difference, "p", "p (Holm)")
    title = f"Share of the kept candidates that are usable, by labels of {count(screening.prompts, 'prompt')}"
    return ResultTable("screening", title, columns, tuple(rows), tuple(_screening_notes(screening, result)))


def _screening_notes(screening: Screening, result: Ranking) -> Iterator[str]:
    if screening.candidates:
        usable = f"{screening.usable:.0%} of {count(screening.candidates, 'labelled candidate')} are usable."
    else:
        usable = (
            "The share of usable candidates is undefined (n=0): no candidate that counts has a label, because a prompt "
            "counts only if all its candidates have one."
        )
    yield (
        f"{usable} {result.config.level:.0%} intervals: Student's t over the prompts; "
        "differences are paired by prompt. Candidates with equal values count as the mean over all their orders, so "
        "the value of the random order is exact."
    )
    if screening.left_out:
        prompts, missing = list(screening.left_out), sum(screening.left_out.values())
        named = (
            prompts
            if len(prompts) <= _PROMPTS_NAMED
            else [*prompts[:_PROMPTS_NAMED], f"{len(prompts) - _PROMPTS_NAMED} more"]
        )
        yield (
            f"Left out: {count(len(prompts), 'prompt')} ({listed(named)}), because of {count(missing, 'candidate')} "
            "without a label."
        )
