"""Trackers of experiments: what is sent, that it arrives, and that nothing else does.

The contract runs over all trackers that are installed (pip install 'robogaze[trackio,wandb,mlflow]'), each writing to
this machine; what was written is read back by the library's own means.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from checkpoints import clean_and_faulty, report, without_a_model, write_reports
from cli.running import Shell
from making import coverage
from synthetic import write_clip

from robogaze.cli.shared.tracking import NO_TELEMETRY
from robogaze.comparison import ComparisonConfig
from robogaze.comparison import compare_runs as compare
from robogaze.core.report import Report, Usage
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.errors import InputError, MissingExtra, RobogazeError
from robogaze.reporting.trackers import TRACKERS, leaderboard_numbers, open_tracker, run_numbers, send
from robogaze.reporting.trackers.base import Plain, TrackedRun, finite

from .cases import UNREADABLE
from .samples import make_clip, make_event, make_report

NAN = float("nan")
MADE = {"robogaze": "0.1.0", "pipeline": "plain", "seed": 7, "level": 0.95}
NUMBERS = {"clean_rate": 0.25, "clean_rate_low": 0.1, "clips/complete": 3, "type_rate/blur": 0, "usage/cost_usd": 1e-4}


# What is sent of a run.


def test_a_run_is_sent_as_these_numbers(reports: list[Report], domain: Domain) -> None:
    numbers = run_numbers([ReportSummary.of(report) for report in reports], [UNREADABLE], domain)
    rates = {name: number for name, number in numbers.items() if "_rate/" in name}
    counts = {name: number for name, number in numbers.items() if name.startswith("clips/")}
    assert counts == {
        "clips/faulty": 2, "clips/clean": 1, "clips/undecided": 2,
        "clips/complete": 3, "clips/partial": 1, "clips/unscored": 1, "clips/unreadable": 1,
        "clips/pending": 0,
    }  # fmt: skip
    assert set(numbers) - set(rates) - set(counts) == {
        "clean_rate", "clean_rate_low", "clean_rate_high",
        "nothing_found_rate", "nothing_found_rate_low", "nothing_found_rate_high",
        "usage/calls", "usage/prompt_tokens", "usage/completion_tokens", "usage/cost_usd",
    }  # fmt: skip
    assert list(rates) == [
        "dimension_rate/task", "type_rate/failed_placing", "type_rate/early_end",
        "dimension_rate/physics", "type_rate/passing_through", "type_rate/floating",
        "dimension_rate/picture", "type_rate/blur", "type_rate/flicker",
    ]  # fmt: skip
    assert (numbers["clean_rate"], numbers["nothing_found_rate"]) == (1 / 6, 2 / 6)
    assert numbers["clean_rate_low"] < 1 / 6 < numbers["clean_rate_high"]


def test_where_no_clip_could_be_clean_no_clean_rate_is_sent(domain: Domain) -> None:
    some = coverage("picture", partial=["physics"], not_examined=["task"])
    event = make_event("e1", "physics", "floating", (0, 1))
    runs = [make_report(domain, make_clip(name), coverage=some) for name in "abc"]
    runs.append(make_report(domain, make_clip("d"), coverage=some, events=(event,)))
    numbers = finite(run_numbers([ReportSummary.of(run) for run in runs], [], domain))
    assert not any(name.startswith("clean_rate") for name in numbers)
    assert numbers["nothing_found_rate"] == 0.75
    assert (numbers["clips/clean"], numbers["clips/undecided"], numbers["clips/faulty"]) == (0, 3, 1)
    whole = make_report(domain, make_clip("e"), events=(event,))
    numbers = run_numbers([ReportSummary.of(report) for report in (*runs, whole)], [], domain)
    assert (numbers["clean_rate"], numbers["nothing_found_rate"]) == (0.0, 0.6)


def test_a_rate_is_over_the_scored_clips_in_which_its_dimension_was_looked_for(
    reports: list[Report], domain: Domain
) -> None:
    every = coverage("physics", not_examined=["task", "picture"])
    more = [make_report(domain, make_clip(f"more-{number}"), coverage=every) for number in range(2)]
    faulty = next(report for report in reports if report.status == "complete" and report.events)
    numbers = run_numbers([ReportSummary.of(report) for report in (faulty, *more)], [], domain)
    assert numbers["type_rate/passing_through"] == numbers["dimension_rate/physics"] == pytest.approx(1 / 3)
    assert numbers["dimension_rate/picture"] == 1.0  # the one clip in which it was looked for
    unscored = [ReportSummary.of(report) for report in reports if report.status == "unscored"]
    assert run_numbers([ReportSummary.of(faulty), *unscored], [], domain)["type_rate/passing_through"] == 1.0


def test_a_rate_counts_what_is_covered_partially(reports: list[Report], domain: Domain) -> None:
    faulty = next(report for report in reports if report.status == "complete" and report.events)
    some = coverage("picture", partial=["physics"], not_examined=["task"])
    digests = [ReportSummary.of(report) for report in (faulty, make_report(domain, make_clip("more"), coverage=some))]
    assert run_numbers(digests, [], domain)["dimension_rate/physics"] == 0.5


def test_what_is_not_known_is_not_sent(domain: Domain) -> None:
    some = coverage("physics", not_examined=["task", "picture"])
    one = make_report(domain, make_clip("a"), coverage=some, usage=Usage(calls=2, cost_usd=None))
    numbers = finite(run_numbers([ReportSummary.of(one)], [], domain))
    assert "usage/cost_usd" not in numbers
    assert "type_rate/blur" not in numbers, "nobody looked for it"
    assert numbers["type_rate/floating"] == 0.0
    assert numbers["usage/calls"] == 2
    assert [name for name in finite(run_numbers([], [], domain)) if "rate" in name] == []


def test_a_run_of_a_comparison_is_sent_as_its_measures_and_what_is_unscored() -> None:
    result = compare(
        [clean_and_faulty("step_10", "++--"), clean_and_faulty("step_20", "+++?")], ComparisonConfig(resamples=20)
    )
    numbers = leaderboard_numbers(result.leaderboard[1], result.scope)
    measures = ("clean_rate", "events_per_clip", "load_per_clip", "load_per_minute")
    assert set(numbers) == {f"{name}{end}" for name in measures for end in ("", "_low", "_high")} | {"unscored_share"}
    assert (numbers["clean_rate"], numbers["unscored_share"], numbers["load_per_clip"]) == (0.75, 0.25, 0.0)
    assert numbers["clean_rate_low"] == result.leaderboard[1].clean_rate.low
    assert leaderboard_numbers(result.leaderboard[0], result.scope)["load_per_clip"] == 1.5


def test_a_run_without_a_model_is_sent_as_its_nothing_found_rate() -> None:
    result = compare([without_a_model("a", "++--"), clean_and_faulty("b", "+++-")], ComparisonConfig(resamples=20))
    for standing, value in zip(result.leaderboard, (0.5, 0.75), strict=True):
        numbers = leaderboard_numbers(standing, result.scope)
        assert numbers["nothing_found_rate"] == value
        assert not any(name.startswith("clean_rate") for name in numbers)


def test_only_finite_numbers_are_left() -> None:
    numbers = {"a": 0, "b": None, "c": NAN, "d": float("inf"), "e": -1.5}
    assert finite(numbers) == {"a": 0.0, "e": -1.5}


# The contract.


@dataclass(frozen=True)
class Kept:
    """A run as its tracker gives it back; `steps` are the numbers by step."""

    name: str
    configuration: Mapping[str, Any]
    steps: Mapping[int, Mapping[str, float]]


def read_trackio(project: str) -> list[Kept]:
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    found = []
    for run in trackio.Api().runs(project):
        logs = SQLiteStorage.get_logs(project, run=run.name, run_id=run.id)
        steps = {log.pop("step"): {key: log[key] for key in log if key != "timestamp"} for log in logs}
        found.append(Kept(run.name, _less(run.config, "_Username", "_Created", "_Group"), steps))
    return found


def read_wandb(project: str) -> list[Kept]:
    found = []
    for _, records in wandb_files(project):
        run = _run(records)
        logged = [_values(record.history.item) for record in records if record.HasField("history")]
        steps = {log["_step"]: _less(log, "_step", "_timestamp", "_runtime") for log in logged}
        found.append(Kept(run.display_name, _less(_values(run.config.update), "_wandb"), steps))
    return found


def wandb_files(project: str) -> list[tuple[Path, list[Any]]]:
    """The files of a project with their messages, of which the library reads none before they are synced."""
    import wandb

    wandb.teardown()  # as at the end of Python: now the files are whole
    files = sorted(Path(os.environ["WANDB_DIR"]).rglob("*.wandb"))
    found = [(file, list(_messages(file.read_bytes()))) for file in files]
    mine = [(file, records) for file, records in found if _run(records).project == project]
    return sorted(mine, key=lambda entry: _run(entry[1]).start_time.ToNanoseconds())


def _run(records: list[Any]) -> Any:
    (run,) = (record.run for record in records if record.HasField("run"))
    return run


def _messages(data: bytes) -> Iterator[Any]:
    """After seven bytes of its own, a file is a row of messages with seven bytes before each: sum, length, kind."""
    from wandb.proto.wandb_internal_pb2 import Record

    assert len(data) < 32_768, "a message may be cut at the end of a block"
    at = 7
    while at < len(data):
        size = int.from_bytes(data[at + 4 : at + 6], "little")
        yield Record.FromString(data[at + 7 : at + 7 + size])
        at += 7 + size


def _values(items: Any) -> dict[str, Any]:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def read_mlflow(project: str) -> list[Kept]:
    import mlflow

    client = mlflow.MlflowClient()
    known = client.get_experiment_by_name(project)
    found = []
    for run in client.search_runs([known.experiment_id], order_by=["attributes.start_time"]):
        assert run.info.status == "FINISHED"
        assert (run.info.user_id, set(run.data.tags)) == ("unknown", {"mlflow.runName"})
        steps: dict[int, dict[str, float]] = {}
        for name in run.data.metrics:
            for metric in client.get_metric_history(run.info.run_id, name):
                steps.setdefault(metric.step, {})[name] = metric.value
        found.append(Kept(run.info.run_name, run.data.params, steps))
    return found


def _less(logged: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in logged.items() if name not in names}


READERS: Mapping[str, Callable[[str], list[Kept]]] = {
    "trackio": read_trackio,
    "wandb": read_wandb,
    "mlflow": read_mlflow,
}

_THEIR_OWN = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")


@pytest.fixture(scope="module")
def _on_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The libraries read the environment once, when they are imported: no login, no server, no telemetry."""
    home = tmp_path_factory.mktemp("trackers")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HF_TOKEN", raising=False)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{home}/mlflow.db")
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("WANDB_MODE", "offline")
        patch.setenv("WANDB_ERROR_REPORTING", "false")
        for name in ("HF_HOME", "TRACKIO_DIR", "WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
            (home / name).mkdir()
            patch.setenv(name, str(home / name))
        yield


@pytest.fixture(params=[pytest.param(kind, marks=_THEIR_OWN) for kind in TRACKERS.names()])
def kind(request: pytest.FixtureRequest, _on_this_machine: None) -> str:
    """Every tracker of the registry whose library is there."""
    name: str = request.param
    pytest.importorskip(name, reason=f"needs {name} (pip install robogaze[{name}])")
    return name


def test_every_tracker_is_read_back_here() -> None:
    assert set(READERS) == set(TRACKERS.names())


def test_numbers_arrive_with_their_run_and_step(kind: str) -> None:
    tracker = open_tracker(f"{kind}:arrive")
    send(tracker, "step_1000", MADE, NUMBERS, 1000)
    send(tracker, "step_2k", MADE, {**NUMBERS, "clean_rate": 0.5}, 2000)
    first, second = READERS[kind]("arrive")
    assert (first.name, second.name) == ("step_1000", "step_2k")
    assert (first.steps, second.steps) == ({1000: NUMBERS}, {2000: {**NUMBERS, "clean_rate": 0.5}})
    assert {name: str(value) for name, value in first.configuration.items()} == {
        name: str(value) for name, value in MADE.items()
    }


def test_what_is_undefined_does_not_arrive_and_is_not_0(kind: str) -> None:
    send(open_tracker(f"{kind}:undefined"), "base", {}, {"a": NAN, "b": None, "c": 0, "d": float("inf")}, 0)
    (run,) = READERS[kind]("undefined")
    assert (run.configuration, run.steps) == ({}, {0: {"c": 0.0}})


def test_two_runs_of_one_name_are_two(kind: str) -> None:
    for value in (0.25, 0.75):
        send(open_tracker(f"{kind}:twice"), "base", MADE, {"clean_rate": value}, 5)
    assert [run.steps for run in READERS[kind]("twice")] == [{5: {"clean_rate": 0.25}}, {5: {"clean_rate": 0.75}}]


@pytest.mark.usefixtures("_on_this_machine")
def test_wandb_sends_nothing_but_the_numbers() -> None:
    pytest.importorskip("wandb", reason="needs wandb (pip install robogaze[wandb])")
    send(open_tracker("wandb:alone"), "base", MADE, NUMBERS, 0)
    ((file, records),) = wandb_files("alone")
    sent = {record.WhichOneof("record_type") for record in records}
    assert sent <= {"header", "footer", "run", "config", "telemetry", "history", "summary", "exit", "final", "metric"}
    assert not list((file.parent / "files").glob("*")), "these would be sent, too"
    assert not any(record.run.host or record.run.HasField("git") for record in records)
    for private in (Path.cwd(), sys.argv[0], sys.executable):
        assert str(private).encode() not in file.read_bytes()


@pytest.mark.usefixtures("_on_this_machine")
def test_an_invalid_wandb_name_is_refused_at_once() -> None:
    pytest.importorskip("wandb", reason="needs wandb (pip install robogaze[wandb])")
    with pytest.raises(InputError, match=r"'a/b' is not a valid wandb project name: .*cannot contain"):
        open_tracker("wandb:a/b")


@pytest.mark.parametrize("name", TRACKERS.names())
def test_a_tracker_that_is_not_installed_names_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=rf"{name} is not installed; .*robogaze\[{name}\]"):
        open_tracker(f"{name}:project")


def test_a_tracker_of_another_package_is_opened_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes_tracker.py").write_text(
        "class Notes:\n    def __init__(self, project):\n        self.place = f'notes:{project}'\n"
        "    @classmethod\n    def open(cls, project):\n        return cls(project)\n"
    )
    metadata = tmp_path / "notes_tracker-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: notes-tracker\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robogaze.trackers]\nnotes = notes_tracker:Notes\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert open_tracker("notes:mine").place == "notes:mine"


@pytest.mark.parametrize("text", ["trackio", "trackio:", "wandb: ", "tensorboard:project", ""])
def test_what_names_no_tracker_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="write KIND:PROJECT, where KIND is one of: trackio, wandb, mlflow"):
        open_tracker(text)


# A tracker that keeps what it is given.


@dataclass
class Ledger:
    """Keeps all it is given, prints as libraries do, and takes nothing more after `full` runs."""

    full: int | None = None
    runs: list[tuple[str, dict[str, Plain]]] = field(default_factory=list)
    logged: list[tuple[int, Mapping[str, float]]] = field(default_factory=list)
    finished: int = 0
    place: str = "ledger:book"
    refusals: tuple[type[Exception], ...] = (KeyError,)

    def start(self, name: str, configuration: Mapping[str, Plain]) -> TrackedRun:
        print(f"* started {name}")
        self.runs.append((name, dict(configuration)))
        return self

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        if self.full is not None and len(self.logged) >= self.full:
            raise KeyError("no\nroom.")
        self.logged.append((step, numbers))

    def finish(self) -> None:
        self.finished += 1


class OpenLedger:
    """What the registry loads; `open` is set for each test."""

    open: Callable[[str], Ledger]


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A tracker that the command line knows as `ledger`."""
    book = Ledger()
    monkeypatch.setitem(TRACKERS.own, "ledger", f"{__name__}:OpenLedger")  # type: ignore[arg-type]
    monkeypatch.setattr(OpenLedger, "open", lambda project: book, raising=False)
    return book


@pytest.fixture
def robogaze(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """The command line; what it sets of the environment goes with its test."""
    for name in NO_TELEMETRY:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return Shell(monkeypatch, capsys)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A clip with things to be kept at home: an id, an instruction, and where it lies."""
    write_clip(tmp_path / "hidden.mp4", frames=16, width=64, height=48)
    path = tmp_path / "clips.jsonl"
    path.write_text(json.dumps({"path": "hidden.mp4", "instruction": "Move the hidden bar", "clip_id": "hidden-1"}))
    return path


def test_a_refusal_is_one_sentence_and_the_run_is_finished() -> None:
    book = Ledger(full=0)
    with pytest.raises(RobogazeError, match=r"^ledger:book refused the numbers of base: 'no.nroom.'; the result"):
        send(book, "base", {}, {"a": 1.0}, 0)
    assert (book.finished, book.logged) == (1, [])


# On the command line.


def test_bench_sends_its_numbers_at_the_step_of_its_folder(
    robogaze: Shell, manifest: Path, tmp_path: Path, ledger: Ledger
) -> None:
    out = tmp_path / "step_14k"
    ran = robogaze("score", manifest, "--out", out, "--track", "ledger:book", "--no-page", "--json")
    (name, made), (step, numbers) = ledger.runs[0], ledger.logged[0]
    assert (name, step, ledger.finished) == ("step_14k", 14_000, 1)
    assert made.keys() == {"robogaze", "domain", "domain_version", "pipeline"}
    clips = json.loads(ran.out)["clips"]  # what a library prints is not in the data
    assert {name: numbers[f"clips/{name}"] for name in clips} == clips
    assert (clips["faulty"] + clips["clean"] + clips["undecided"] + clips["unreadable"], numbers["usage/calls"]) == (
        1,
        0,
    )
    assert "clean_rate" not in numbers, "without a model no clip could be clean"
    assert 0 <= numbers["nothing_found_rate"] <= 1
    assert "* started step_14k" in ran.err
    assert "sent to ledger:book: step_14k at step 14000" in ran.err
    sent = repr((ledger.runs, ledger.logged))
    assert "hidden" not in sent
    assert str(tmp_path) not in sent


@pytest.mark.parametrize("more", [("--shard", "1/2"), ("--engine", "datatrove")])
def test_the_numbers_of_a_part_are_not_sent_as_those_of_the_run(
    robogaze: Shell, manifest: Path, tmp_path: Path, ledger: Ledger, more: tuple[str, str]
) -> None:
    ran = robogaze("score", manifest, "--out", tmp_path / "run", "--track", "ledger:book", *more)
    assert (ran.code, ledger.runs) == (2, [])
    assert "robogaze compare RUN --track" in ran.err


def test_a_tracker_is_there_before_the_work_begins(
    robogaze: Shell, manifest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    ran = robogaze("score", manifest, "--out", tmp_path / "run", "--track", "wandb:project")
    assert (ran.code, ran.err) == (
        1,
        "error: wandb is not installed; install it with: pip install 'robogaze[wandb]', or in a checkout: "
        "pip install -e '.[wandb]'\n",
    )
    assert not (tmp_path / "run").exists()


def test_compare_sends_a_run_for_each_of_its_own(robogaze: Shell, tmp_path: Path, ledger: Ledger) -> None:
    kinds: Mapping[str, dict[str, int]] = {"step_1000": {"colour_shift": 4}, "base": {}}
    runs = [
        write_reports(tmp_path / f"{name}.jsonl", [report(f"{name}-p{at}", found) for at in range(4)])
        for name, found in kinds.items()
    ]
    ran = robogaze("compare", *runs, "--resamples", 20, "--track", "ledger:book", "--json")
    assert ran.code == 0, ran.err
    assert [name for name, _ in ledger.runs] == ["step_1000", "base"]
    assert ledger.runs[0][1].keys() == {"robogaze", "level", "resamples", "seed"}
    (first, worse), (second, better) = ledger.logged
    assert (first, second) == (1000, 0)
    assert (worse["clean_rate"], worse["load_per_clip"], better["clean_rate"]) == (0.0, 4.0, 1.0)
    assert len(json.loads(ran.out)["runs"]) == 2
    assert "p0" not in repr((ledger.runs, ledger.logged))


@pytest.mark.usefixtures("ledger")
def test_the_libraries_send_no_telemetry_unless_the_user_sets_it(
    robogaze: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_reports(tmp_path / "a.jsonl", [report("a-p0")])
    robogaze("compare", run, "--resamples", 20)
    assert not NO_TELEMETRY.keys() & os.environ.keys(), "no tracker was asked for"
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "true")
    robogaze("compare", run, "--resamples", 20, "--track", "ledger:book")
    assert {name: os.environ[name] for name in NO_TELEMETRY} == {**NO_TELEMETRY, "WANDB_ERROR_REPORTING": "true"}


def test_the_result_is_shown_though_a_tracker_takes_nothing(robogaze: Shell, tmp_path: Path, ledger: Ledger) -> None:
    ledger.full = 0
    runs = [write_reports(tmp_path / f"{name}.jsonl", [report(f"{name}-p0")]) for name in ("a", "b")]
    ran = robogaze("compare", *runs, "--resamples", 20, "--track", "ledger:book")
    assert ran.code == 1
    assert "Leaderboard of 2 runs" in ran.out
    assert "error: ledger:book refused the numbers of a: " in ran.err
