"""The table of faults in replies. The tests of faults run each of its rows.

A fault changes a good reply. Its outcome says what RoboGaze must do:

accepted    the reply is a valid answer
retried     the request is sent again unchanged; if the fault lasts, the call fails
refused     the call fails at once, because a retry changes nothing
invalid     the request is sent again with the error message; if the fault lasts, the call fails
undecided   the answer leaves out a hypothesis, which is requested once more; if the fault lasts, it stays undecided

In all cases the fault makes no clip clean, affects no other clip, and only valid answers are stored.
"""

import copy
import gzip
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from stub_server import Reply, completion_of

from injection.plays import QUESTIONS, Asked
from robogaze.backends import Completion
from robogaze.errors import RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable

Level = Literal["transport", "completion", "answer", "backend"]
Outcome = Literal["accepted", "retried", "refused", "invalid", "undecided"]
Spoil = Callable[[Completion], Completion]


@dataclass
class OddReply(Reply):
    """A good reply that a backend of another package changes, or for which it raises an error."""

    spoil: Spoil | None = None


@dataclass(frozen=True)
class Fault:
    """A row of the table. `rare` marks slow rows; `ended` is False where the completion is not finished."""

    name: str
    level: Level
    outcome: Outcome
    reply: Callable[[Asked], Reply]
    questions: tuple[str, ...] = QUESTIONS
    rare: bool = False
    ended: bool = True

    def fits(self, asked: Asked) -> bool:
        """Whether the fault applies to a question and changes its answer."""
        return asked.question in self.questions and (
            self.level != "answer" or self.reply(asked) != Reply(content=json.dumps(asked.good))
        )

    @property
    def is_stored(self) -> bool:
        """Whether the changed reply is a finished completion, which is stored."""
        return self.outcome in ("accepted", "undecided", "invalid") and self.ended


# Transport: statuses, headers, bodies, connections.


def _sends(name: str, outcome: Outcome, reply: Reply, *, rare: bool = False) -> Fault:
    return Fault(name, "transport", outcome, lambda asked: replace(reply), rare=rare)


def _good(asked: Asked) -> bytes:
    return json.dumps(completion_of(asked.body, Reply(content=json.dumps(asked.good)))).encode()


def _transport() -> Iterator[Fault]:
    for status in (408, 409, 429, 500, 501, 502, 503, 504, 520, 529, 599):
        yield _sends(f"status {status}", "retried", Reply(status=status, raw=b"{}"))
    yield _sends("status 204", "refused", Reply(status=204, raw=b""))
    for status in (206, 400, 401, 402, 403, 404, 405, 410, 413, 415, 418, 422, 431, 451):
        yield _sends(f"status {status}", "refused", Reply(status=status, raw=b'{"error": {"message": "no"}}'))
    for status in (300, 301, 302, 303, 304, 307, 308):
        for place in ("/elsewhere/v1/chat/completions", "http://[", ""):
            moved = {"location": place}
            yield _sends(
                f"status {status} to {place or 'nowhere'}", "refused", Reply(status=status, headers=moved, raw=b"")
            )
    for wait in ("0.05", "inf", "nan", "1e12", "86400", "-5", "soon", "", "Fri, 31 Dec 9999 23:59:59 GMT"):
        for status in (429, 503):
            reply = Reply(status=status, raw=b"{}", headers={"retry-after": wait})
            yield _sends(f"status {status}, Retry-After {wait or 'empty'}", "retried", reply)
    quota = b'{"error": {"code": "insufficient_quota", "message": "pay"}}'
    yield _sends("status 429, the quota is used up", "refused", Reply(status=429, raw=quota))
    yield _sends("a cut connection", "retried", Reply())
    yield _sends("a stall", "retried", Reply(content="{}", delay_s=30), rare=True)
    bodies: dict[str, bytes] = {
        "nothing": b"",
        "a page": b"<html>busy</html>",
        "null": b"null",
        "true": b"true",
        "a number": b"5",
        "a text": b'"busy"',
        "a list": b"[]",
        "an empty record": b"{}",
        "bytes that are no text": b"\xff\xfe{",
        "a stream of events": b'data: {"choices": []}\n\ndata: [DONE]\n\n',
        "JSON nested 3,000 deep": b"[" * 3000 + b"]" * 3000,
        "records nested 3,000 deep": b'{"choices":' * 3000 + b"1" + b"}" * 3000,
        "a number of 5,000 digits": b'{"usage": ' + b"1" * 5000 + b"}",
        "an error": b'{"error": {"message": "overloaded"}}',
    }
    for name, raw in bodies.items():
        yield _sends(f"a body of {name}", "retried", Reply(raw=raw))
        yield _sends(f"a page of status 400 of {name}", "refused", Reply(status=400, raw=raw))
    yield _sends("a body of 17 MiB", "retried", Reply(raw=b" " * (17 * 2**20)), rare=True)
    bomb = Reply(raw=gzip.compress(b" " * (17 * 2**20)), headers={"content-encoding": "gzip"})
    yield _sends("a body of 17 MiB, compressed", "retried", bomb, rare=True)
    for encoding in ("gzip", "deflate", "br", "zstd", "gzip, gzip"):
        not_so = {"content-encoding": encoding}
        yield _sends(f"a body that is not {encoding}", "retried", Reply(raw=b"{}", headers=not_so))
    yield Fault("half a completion", "transport", "retried", lambda asked: Reply(raw=_good(asked)[:-9]))
    yield Fault("two completions", "transport", "retried", lambda asked: Reply(raw=_good(asked) * 2))
    yield Fault(
        "half a compressed completion",
        "transport",
        "retried",
        lambda asked: Reply(raw=gzip.compress(_good(asked))[:-20], headers={"content-encoding": "gzip"}),
    )
    yield Fault(
        "a compressed completion",
        "transport",
        "accepted",
        lambda asked: Reply(raw=gzip.compress(_good(asked)), headers={"content-encoding": "gzip"}),
    )


# What a completion can be: how it ended, what its content is, what it counts.

GOOD, NOTHING, NONE = "its answer", "an answer that reports nothing", "no content"
"""With which content a completion is spoiled elsewhere."""


def _at(asked: Asked, path: str, value: Any, content: str) -> bytes:
    """A completion with something else at a place, as in `choices.0.message`."""
    said = {GOOD: asked.good, NOTHING: asked.nothing}.get(content)
    reply = copy.deepcopy(completion_of(asked.body, Reply(content=json.dumps(said))))
    if content == NONE:
        reply["choices"][0]["message"]["content"] = None
    part, (*steps, last) = reply, [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        part = part[step]
    part[last] = value(said) if callable(value) else value
    return json.dumps(reply).encode()


def _edit(what: str, outcome: Outcome, path: str, value: Any, content: str = GOOD) -> Fault:
    name = f"{what} beside {content}"
    return Fault(name, "completion", outcome, lambda asked: Reply(raw=_at(asked, path, value, content)))


def _shown(value: Any) -> str:
    return repr(value)[:60]


_TEXT = {"type": "text", "text": "{}"}
_MESSAGE, _CONTENT = "choices.0.message", "choices.0.message.content"


def _completions() -> Iterator[Fault]:
    for content in (GOOD, NOTHING):
        for reason in ("error", "abort", "tool_calls", "function_call", "eos", "", "STOP", "timeout", "recitation"):
            yield _edit(f"finish_reason {reason!r}", "retried", "choices.0.finish_reason", reason, content)
        for reason in (5, True, [], {}, ["stop"], "\ud800"):
            yield _edit(f"finish_reason {_shown(reason)}", "retried", "choices.0.finish_reason", reason, content)
        yield _edit("finish_reason 'content_filter'", "refused", "choices.0.finish_reason", "content_filter", content)
        cut = _edit("finish_reason 'length'", "invalid", "choices.0.finish_reason", "length", content)
        yield replace(cut, ended=False)
        yield _edit("a refusal", "refused", f"{_MESSAGE}.refusal", "I cannot help with that", content)
        for odd in (True, 5, ["no"], {"a": 1}, "\ud800"):
            yield _edit(f"a refusal of {_shown(odd)}", "retried", f"{_MESSAGE}.refusal", odd, content)
        yield _edit("a part that refuses", "refused", _CONTENT, _parts({"type": "refusal", "refusal": "no"}), content)
        yield _edit("an error", "retried", "error", {"message": "overloaded"}, content)
        yield _edit("an error of the choice", "retried", "choices.0.error", {"message": "overloaded"}, content)
        for part in ({"type": "image_url"}, {"type": "tool_use"}, 5, None, {"type": "text", "text": 5}, {}, "text"):
            yield _edit(f"a part {_shown(part)}", "retried", _CONTENT, _parts(part), content)
    yield _edit("no finish_reason", "accepted", "choices.0.finish_reason", None)
    for field in ("reasoning", "reasoning_content"):
        for content in ("hypotheses", "events", "type"):
            draft = json.dumps({content: []})
            yield _edit(f"a draft of {content} in {field}", "invalid", f"{_MESSAGE}.{field}", draft, NONE)
        for odd in (5, True, ["a"], {"a": []}):
            yield _edit(f"{field} {_shown(odd)}", "accepted", f"{_MESSAGE}.{field}", odd)
            yield _edit(f"{field} {_shown(odd)}", "invalid", f"{_MESSAGE}.{field}", odd, NONE)
    for odd in (5, 1.5, True, {"text": "{}"}, ["{}"], [5], [[]], "\ud800"):
        yield _edit(f"content {_shown(odd)}", "retried", _CONTENT, odd)
    for empty in (None, "", " \n", [], [{"type": "thinking", "thinking": "so"}]):
        yield _edit(f"content {_shown(empty)}", "invalid", _CONTENT, empty)
    yield _edit("content in parts", "accepted", _CONTENT, _parts())
    yield _edit("content in parts with reasoning", "accepted", _CONTENT, _parts({"type": "thinking", "thinking": [{}]}))
    for odd in (None, [], {}, 5, "choice", [None], [5], [[]]):
        yield _edit(f"choices {_shown(odd)}", "retried", "choices", odd)
    for odd in (None, [], 5, "message"):
        yield _edit(f"message {_shown(odd)}", "retried", _MESSAGE, odd)
    for path in ("usage.prompt_tokens", "usage.completion_tokens", "usage.prompt_tokens_details"):
        for odd in (1.5, [1], {}, "9", -1, True, math.nan, math.inf, 1e308, 10**30, None):
            yield _edit(f"{path} {_shown(odd)}", "accepted", path, odd)
    for odd in ("9", [1], 1.5, 10**9, -1, None):
        yield _edit(f"cached_tokens {_shown(odd)}", "accepted", "usage.prompt_tokens_details", {"cached_tokens": odd})
    for path in ("usage", "model", "system_fingerprint", "id", "created", "logprobs", "choices.0.logprobs"):
        for odd in (None, 5, [], {"a": [1]}, "x" * 5000):
            yield _edit(f"{path} {_shown(odd)}", "accepted", path, odd)
    yield _edit("half a character in the model's name", "retried", "model", "\ud800")


def _parts(*more: Any) -> Callable[[Any], list[Any]]:
    """The content as parts, with others before."""
    return lambda said: [*more, {"type": "text", "text": json.dumps(said)}]


# What an answer can be, whatever was asked.


def _text(
    name: str,
    outcome: Outcome,
    write: Callable[[Asked], str],
    questions: Sequence[str] = QUESTIONS,
    *,
    rare: bool = False,
) -> Fault:
    return Fault(
        name, "answer", outcome, lambda asked: Reply(content=write(asked)), questions=tuple(questions), rare=rare
    )


_QUIET = ("propose", "verify", "direct", "recurring", "scan", "judge")
"""Questions whose answer may report that nothing is wrong; such an answer must be alone."""

_PROSE = {
    "Sure! Here it is:\n{}\nAnything else?",
    "Here:\n```json\n{}\n```\nDone.",
    "{} I hope it helps.",
    "\ufeff{}",
    "a draft </think> {}",
}


def _texts() -> Iterator[Fault]:
    for said in ("", " \n\t", "I could not find anything wrong.", "{}{}", "{}", "[]", "null", "true", "5", '"{}"'):
        yield _text(f"the text {said!r}", "invalid", lambda asked, said=said: said)
    yield _text("JSON cut short", "invalid", lambda asked: json.dumps(asked.good)[:-7])
    yield _text("JSON twice", "invalid", lambda asked: json.dumps(asked.good) * 2)
    yield _text("JSON with a comma too many", "invalid", lambda asked: json.dumps(asked.good)[:-1] + ",}")
    yield _text("Python in place of JSON", "invalid", lambda asked: repr({"a": None, **asked.good}))
    yield _text("JSON within a record", "invalid", lambda asked: json.dumps({"answer": asked.good}))
    yield _text("JSON within a list and prose", "invalid", lambda asked: f"[{json.dumps({'a': asked.good})}]")
    yield _text("JSON within a text", "invalid", lambda asked: json.dumps(json.dumps(asked.good)))
    yield _text("JSON in capitals", "invalid", lambda asked: json.dumps({k.upper(): v for k, v in asked.good.items()}))
    yield _text("JSON with another key", "invalid", lambda asked: json.dumps({**asked.good, "extra": 1}))
    yield _text("JSON without its first key", "invalid", lambda asked: json.dumps(dict(list(asked.good.items())[1:])))
    yield _text("JSON with a key twice", "invalid", _key_twice)
    yield _text("JSON of nulls", "invalid", lambda asked: json.dumps(dict.fromkeys(asked.good)))
    for odd in (5, True, "", [[]], [5], {"a": 1}, [None]):
        yield _text(f"JSON of {odd!r}", "invalid", lambda asked, odd=odd: json.dumps(dict.fromkeys(asked.good, odd)))
    yield _text("JSON nested 3,000 deep", "invalid", lambda asked: '{"a":' * 3000 + "1" + "}" * 3000)
    yield _text("a number of 5,000 digits", "invalid", lambda asked: '{"a": ' + "9" * 5000 + "}")
    yield _text("half a character", "invalid", lambda asked: json.dumps({**asked.good, "extra": "\ud800"}))
    yield _text("an unclosed <think>", "invalid", lambda asked: f"<think>so {json.dumps(asked.good)}")
    yield _text("an unclosed <think> before nothing", "invalid", lambda asked: f"<think>so {json.dumps(asked.nothing)}")
    yield _text("<think> within JSON", "invalid", _think_within)
    yield _text("20,000 times <think>", "invalid", lambda asked: "<think>" * 20_000, rare=True)
    yield _text("20,000 times {", "invalid", lambda asked: "{" * 20_000, rare=True)
    yield _text("two million characters", "invalid", lambda asked: '{"a": "' + "x" * 2_000_000 + '"}', rare=True)
    yield _text("a closed <think>", "accepted", lambda asked: f"<think>{{3}} or {{}}</think>\n{json.dumps(asked.good)}")
    yield _text("a fence", "accepted", lambda asked: f"```json\n{json.dumps(asked.good)}\n```")
    yield _text("spaces around", "accepted", lambda asked: f"\n\n {json.dumps(asked.good, indent=4)} \n")
    prosaic = [question for question in QUESTIONS if question not in _QUIET]
    for prose in sorted(_PROSE):
        around = prose.replace("{}", "%s")
        yield _text(
            f"prose {prose!r}", "accepted", lambda asked, around=around: around % json.dumps(asked.good), prosaic
        )
        yield _text(
            f"prose {prose!r} around nothing",
            "invalid",
            lambda asked, around=around: around % json.dumps(asked.nothing),
            _QUIET,
        )
    blind = "I cannot see any picture. The form would be %s"
    yield _text("a form that is shown", "invalid", lambda asked: blind % json.dumps(asked.nothing), _QUIET)


def _key_twice(asked: Asked) -> str:
    (name, value), *_ = asked.good.items()
    return f"{{{json.dumps(name)}: {json.dumps(value)}, {json.dumps(asked.good)[1:]}"


def _think_within(asked: Asked) -> str:
    written = json.dumps(asked.good)
    return f"{written[:4]}<think>{written[4:]}"


# What the fields of an answer can be.


def _spoil(part: Any, key: str, value: Any) -> Any:
    if isinstance(part, dict):
        return {name: value if name == key else _spoil(below, key, value) for name, below in part.items()}
    return [_spoil(below, key, value) for below in part] if isinstance(part, list) else part


def _field(key: str, value: Any, questions: Sequence[str], outcome: Outcome = "invalid") -> Fault:
    # Python writes NaN as NaN, which is what a careless server sends.
    def write(asked: Asked) -> str:
        return json.dumps(_spoil(asked.good, key, value))

    return _text(f"{key} {_shown(value)} in {'/'.join(questions)}", outcome, write, questions)


def _with(name: str, questions: Sequence[str], change: Callable[[Any], Any], outcome: Outcome = "invalid") -> Fault:
    return _text(name, outcome, lambda asked: json.dumps(change(copy.deepcopy(asked.good))), questions)


_NOT_SHOWN = 1
"""A frame of the clip that no question shows but the critic's, who looks closer."""

_SPANS: tuple[Any, ...] = (
    [2.0, 1.0], [1.0, 1.0], [2.0, 400.0], [-1.0, 1.0], [math.nan, 1.0], [1.0, math.inf], ["0:01", "0:02"], [1.0],
    [0.0, 1.0, 2.0], [], 2.0, [False, True], {"start": 0, "end": 1}, [[0.0, 1.0]], "0-1", [None, 1.0],
)  # fmt: skip
_APPEARANCES: tuple[Any, ...] = (
    [[0.0, 1.0], [4.5, 3.0]], [[0.0, 1.0], [3.0, math.nan]], [[2.0, 400.0]], [["0:01", "0:02"]], [[3.0]], [3.0, 4.5],
    [[3.0, 4.5], [2.0, 3.5]], [], None, [[False, True]], [None], "0-1", [[0.0, 1.0, 2.0]], {},
)  # fmt: skip
_FRAMES: tuple[Any, ...] = (
    [_NOT_SHOWN], [10**6], [-1], [True], [False], [0.0], ["0"], "0", None, [[0]], [None], [0] * 40, 0, {}, [math.nan],
    [2**70],
)  # fmt: skip
_CONFIDENCES: tuple[Any, ...] = ("high", "0.9", 85, 1.01, -0.1, math.nan, math.inf, None, True, [], "90%")
_SEVERITIES: tuple[Any, ...] = ("5/5", "3", 0, 6, 3.5, True, math.nan, [3], -1, "high")
_TYPES: tuple[Any, ...] = ("Motion Blur", "", 5, None, ["blur"], True, {})
_WORDS: tuple[Any, ...] = ("", 5, None, ["a"], {}, True, "\ud800", "x" * 5000)
_WORDED = {
    "goal": ("ground",), "task_progress": ("observe",), "rationale": ("verify",),
    "reason": ("segment",), "what": ("observe", "scan"),
    "description": ("propose", "direct", "recurring", "judge"),
    "evidence": ("propose", "direct", "recurring"), "verified_evidence": ("verify",),
    "context": ("scan",), "course": ("remember",), "reasoning": ("judge", "same", "visible", "edge"),
    "answer": ("look",), "argument": ("advocate", "skeptic"), "directly_seen": ("judge",),
}  # fmt: skip
_FAULTY = ("propose", "direct", "recurring")


def _fields() -> Iterator[Fault]:
    listed: list[tuple[str, Sequence[Any], Sequence[str]]] = [
        ("span_s", (*_SPANS, None), ("propose", "direct")),
        ("refined_span_s", (*_SPANS, None), ("verify",)),
        ("spans_s", _APPEARANCES, ("recurring",)),
        ("frames", (*_FRAMES, []), _FAULTY),
        ("frames", (*_FRAMES, []), ("scan",)),
        ("frames", [frames for frames in _FRAMES if frames != [_NOT_SHOWN]], ("verify",)),
        ("confidence", _CONFIDENCES, ("propose", "scan", "judge", "verify")),
        ("severity_proposal", (*_SEVERITIES, None), ("propose",)),
        ("severity", (*_SEVERITIES, None), ("direct", "recurring")),
        ("severity", _SEVERITIES, ("verify",)),
        ("severity", (*_SEVERITIES, None), ("judge",)),
        ("type", _TYPES, (*_FAULTY, "scan", "judge")),
        ("dimension", _TYPES, _FAULTY),
        ("decision", ("MAYBE", "accept", None, True, ["ACCEPT"], ""), ("verify",)),
        ("merge_with", ("H99", "", 5, True), ("verify",)),
        ("primary_dimension", ("visual_quality", "nonsense", 5), ("verify",)),
        ("span_s", (*_SPANS, None), ("segment",)),
        (
            "box",
            ([0, 0, 9], [9, 0, 0, 9], [0, 0, 9, 1001], [0, 0, 9, 9], "0 0 9 9", [0.1, 0.1, 0.9, 0.9], 5),
            ("propose",),
        ),
        ("box_frame", (_NOT_SHOWN, 0, "0", True), ("propose",)),
        ("box_view", ("top", 5, True), ("propose",)),
        ("relevance", (11, -1, "high", 2.5, True, None, [5]), ("segment",)),
        ("dimensions", (["visual_quality"], None, "visual_quality", {}, {"nonsense": 5}), ("segment",)),
        ("subtasks", (None, [{}], ["pick"], {}), ("ground",)),
        ("visible_objects", (None, [5], [None], "cup", {}), ("ground",)),
        ("actions", (None, [5], [None], "moves", {}, [{"start_s": 2.0, "end_s": 1.0, "what": "moves"}]), ("observe",)),
        ("suspicions", (None, [5], ["moves"], {}), ("observe",)),
        ("entities", (None, [5], "hero", {}), ("remember",)),
        ("violated_rules", (None, [5], "gravity"), ("advocate",)),
        ("next_look", ({"tool": "sonar"}, "vqa", 5, [], {}), ("judge",)),
        ("region", ("left", None, 5, ""), ("scan",)),
        ("ruling", ("perhaps", None, True, "FAULT", ""), ("judge",)),
        ("same_as", ("H9", None, 1, ""), ("same",)),
        ("visible", ("perhaps", None, True, [_NOT_SHOWN], [None], ["0"]), ("visible",)),
        ("visible", ("perhaps", None, True, [[_NOT_SHOWN, _NOT_SHOWN]], [[0]], [0], [[None, None]]), ("judge",)),
        ("frame", (10**6, "0", True, -1, None, []), ("edge",)),
    ]
    for key, values, questions in [*listed, *((key, _WORDS, where) for key, where in _WORDED.items())]:
        yield from (_field(key, value, questions) for value in values)


def _every(name: str, **fields: Any) -> Callable[[Any], Any]:
    """Changes the records of every item of a list or of every key of a record."""

    def change(said: Any) -> Any:
        items = said[name].values() if isinstance(said[name], dict) else said[name]
        for item in items:
            item.update(fields)
        return said

    return change


def _into_itself(said: Any) -> Any:
    for name, decision in said["decisions"].items():
        decision.update(decision="MERGE", merge_with=name)
    return said


def _of_another(said: Any) -> Any:
    for item in next(iter(said.values())):
        item["type"] = "task_incompletion" if item["type"] != "task_incompletion" else "blur"
    return said


def _twice(said: Any) -> Any:
    return {"segments": [*said["segments"], *said["segments"]]}


def _less(name: str) -> Callable[[Any], Any]:
    return lambda said: {name: dict(list(said[name].items())[1:])}


def _more(name: str) -> Callable[[Any], Any]:
    return lambda said: {name: {**said[name], "X99": next(iter(said[name].values()), {})}}


def _contradictions() -> Iterator[Fault]:
    yield _with("ACCEPT without frames", ("verify",), _every("decisions", decision="ACCEPT", frames=[]))
    yield _with("REJECT at confidence 1", ("verify",), _every("decisions", decision="REJECT", confidence=1.0))
    yield _with("REJECT at confidence 0.5", ("verify",), _every("decisions", decision="REJECT", confidence=0.5))
    yield _with("REJECT at confidence 1, severity 5", ("verify",), _every(
        "decisions", decision="REJECT", confidence=1, severity=5
    ))  # fmt: skip
    yield _with("MERGE into nothing", ("verify",), _every("decisions", decision="MERGE", merge_with=None))
    yield _with("MERGE into itself", ("verify",), _into_itself)
    yield _with("a type without its dimension", ("verify",), _every("decisions", type="blur"))
    yield _with(
        "a type of another dimension",
        ("verify",),
        _every("decisions", type="blur", primary_dimension="physical_plausibility"),
    )
    yield _with("a type that is not of its dimension", ("propose", "direct"), _of_another)
    yield _with("a dimension of another type", ("recurring",), _every("events", dimension="logic_glitch"))
    yield _with("no decision", ("verify",), lambda said: {"decisions": {}}, "undecided")
    yield _with("a decision left out", ("verify",), _less("decisions"), "undecided")
    yield _with(
        "a decision of null", ("verify",), lambda said: {"decisions": dict.fromkeys(said["decisions"])}, "undecided"
    )
    for name, question in (("decisions", "verify"), ("windows", "observe"), ("same", "same")):
        yield _with(f"more {name} than asked for", (question,), _more(name))
    for name, question in (("windows", "observe"), ("same", "same")):
        yield _with(f"a key of {name} left out", (question,), _less(name))
    yield _with("segments that overlap", ("segment",), _twice)
    yield _with("a fault in no frame", ("judge",), lambda said: said | {"ruling": "fault", "visible": []})
    yield _with(
        "an ordinary explanation that no frame supports",
        ("judge",),
        lambda said: said | {"ordinary": {"explanation": "it is meant so", "frames": []}},
    )
    yield _with(
        "a look at a frame that does not exist",
        ("judge",),
        lambda said: said | {"next_look": {"tool": "vqa", "frames": [10**6], "question": "Where?"}},
    )
    yield _with(
        "a ruling that wants more of nothing",
        ("judge",),
        lambda said: said | {"ruling": "needs_more_evidence", "next_look": None},
    )


# What a backend of another make can do.


def _raises(error: Exception) -> Spoil:
    def spoil(completion: Completion) -> Completion:
        raise error

    return spoil


def _odd(name: str, outcome: Outcome, spoil: Spoil) -> Fault:
    return Fault(name, "backend", outcome, lambda asked: OddReply(content=json.dumps(asked.good), spoil=spoil))


def _backends() -> Iterator[Fault]:
    retryable = (
        ServerFault("odd"),
        ServerStalled("odd"),
        Unreachable("odd"),
        RateLimited("odd"),
        RateLimited("odd", 1e9),
    )
    for error in retryable:
        yield _odd(f"a backend raises {error!r} {getattr(error, 'retry_after_s', '')}", "retried", _raises(error))
    yield _odd("a backend raises RequestRefused", "refused", _raises(RequestRefused("odd")))
    odd: dict[str, tuple[Any, ...]] = {
        "text": (5, None, b"{}", ["{}"], "\ud800"),
        "model": (5, None, "\ud800", b"m"),
        "finish_reason": (5, True, ["stop"], "error", ""),
        "refusal": ([], 5, False),
        "prompt_tokens": (1.5, [1], "9", -1, math.nan, True, 10**30),
        "completion_tokens": (1.5, {}, -1),
        "cached_tokens": (0.5, "9"),
        "cost_usd": (math.nan, "1", -1.0, [1]),
        "latency_s": (math.inf, None, "1", -1.0),
        "facts": ({"a": 1}, None, [], {1: "a"}, "facts"),
    }
    for field, values in odd.items():
        for value in values:
            yield _odd(
                f"a backend gives {field} {_shown(value)}",
                "retried",
                lambda completion, change={field: value}: replace(completion, **change),
            )
    yield _odd("a backend gives finish_reason 'content_filter'", "refused",
               lambda completion: replace(completion, finish_reason="content_filter"))  # fmt: skip
    yield _odd("a backend gives a refusal", "refused", lambda completion: replace(completion, refusal="no"))
    yield _odd(
        "a backend gives no finish_reason", "accepted", lambda completion: replace(completion, finish_reason=None)
    )


def _table() -> dict[str, Fault]:
    rows = [*_transport(), *_completions(), *_texts(), *_fields(), *_contradictions(), *_backends()]
    named = [replace(fault, name=f"{fault.level}: {fault.name}") for fault in rows]
    found = {fault.name: fault for fault in named}
    twice = {fault.name for fault in named if found[fault.name] is not fault}
    assert not twice, f"two faults are called {sorted(twice)}"
    return found


FAULTS = _table()
"""Every fault by its name."""
