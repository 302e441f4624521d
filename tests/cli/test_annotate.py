"""`robogaze annotate`, as a process of its own, and `robogaze annotations` on what it leaves."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from web.adjudicating import FLOATS, adjudicating, annotate
from web.serving import TOKENS, serving

from cli.running import Shell
from robogaze.datasets.manifest import read_manifest
from robogaze.reports import load_reports
from robogaze.web.annotation_store import open_store

CLIPS = Path(__file__).parents[2] / "datasets" / "demo" / "clips.jsonl"
EVENT = {
    "id": "e1",
    "dimension": "visual_quality",
    "type": "blur",
    "spans": [{"start_s": 0.5, "end_s": 1.0}],
    "severity": 2,
    "description": "The hand is blurred.",
}


@dataclass
class Process:
    """The command, running; `addresses` are those that it printed."""

    popen: "subprocess.Popen[str]"
    addresses: list[str]

    @contextmanager
    def client(self, number: int = 0) -> Iterator[httpx2.Client]:
        """A browser that opened an address."""
        address, _, token = self.addresses[number].partition("/?token=")
        with httpx2.Client(base_url=address, timeout=60, follow_redirects=True) as client:
            assert client.get("/", params={"token": token}).status_code == 200
            yield client


@contextmanager
def annotating(folder: Path, *arguments: str, people: int = 1) -> Iterator[Process]:
    """Run the command in a folder until the end of the context."""
    command = [sys.executable, "-m", "robogaze", "annotate", *arguments, "--no-browser"]
    paths = os.pathsep.join(path for path in sys.path if path)
    # A shell that starts the tests in the background has its processes ignore SIGINT; this one must not.
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": paths},
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as popen:  # fmt: skip
        assert popen.stdout is not None
        try:
            yield Process(popen, [popen.stdout.readline().strip() for _ in range(people)])
        finally:
            popen.kill()


def save(client: httpx2.Client, clip_id: str, base: int, *events: Any) -> httpx2.Response:
    content = {"base_revision": base, "clean": not events, "events": events, "seconds_spent": float(base)}
    return client.put(f"/api/clips/{clip_id}", json=content)


def test_a_server_that_is_killed_loses_nothing_that_it_said_was_saved(tmp_path: Path) -> None:
    with annotating(tmp_path, str(CLIPS), "--as", "ann") as process, process.client() as client:
        clip_id = client.get("/api/queue").json()["clips"][0]["clip_id"]
        for base in range(20):
            saved = save(client, clip_id, base, EVENT)
            assert saved.json() == {"revision": base + 1}
        os.kill(process.popen.pid, signal.SIGKILL)
    with annotating(tmp_path, str(CLIPS), "--as", "ann") as process, process.client() as client:
        assert client.get(f"/api/clips/{clip_id}").json()["annotation"]["revision"] == 20


def test_an_open_page_finds_a_server_that_is_started_again(tmp_path: Path) -> None:
    with annotating(tmp_path, str(CLIPS), "--as", "ann") as process, process.client() as page:
        clip_id = page.get("/api/queue").json()["clips"][0]["clip_id"]
        process.popen.kill()
        process.popen.wait()
        with annotating(tmp_path, str(CLIPS), "--as", "ann"):
            assert save(page, clip_id, 0, EVENT).json() == {"revision": 1}
    assert (tmp_path / "annotations.sqlite.address").stat().st_mode & 0o077 == 0


def test_ctrl_c_reports_what_is_kept(tmp_path: Path) -> None:
    with annotating(tmp_path, str(CLIPS), "--as", "ann") as process, process.client() as client:
        client.get("/api/queue")
        process.popen.send_signal(signal.SIGINT)
        _, err = process.popen.communicate(timeout=60)
    assert process.popen.returncode == 130
    assert "annotations are kept in annotations.sqlite; run the same command again to continue" in err


def test_every_annotator_gets_an_address_and_a_share(tmp_path: Path) -> None:
    options = ("--annotators", "ann,bob,eve", "--annotators-per-clip", "2")
    with annotating(tmp_path, str(CLIPS), *options, people=3) as process:
        queues = []
        for number in range(3):
            with process.client(number) as client:
                queues.append(client.get("/api/queue").json())
    assert [queue["annotator"] for queue in queues] == ["ann", "bob", "eve"]
    assert sum(len(queue["clips"]) for queue in queues) == 20


def test_annotations_are_reports_that_agree_reads(tmp_path: Path, robogaze: Shell) -> None:
    with annotating(tmp_path, str(CLIPS), "--annotators", "ann,bob", people=2) as process:
        for number in range(2):
            with process.client(number) as client:
                for place, row in enumerate(client.get("/api/queue").json()["clips"][:4]):
                    save(client, row["clip_id"], 0, *([EVENT] if place % 2 else []))
                    client.post(f"/api/clips/{row['clip_id']}/submit", json={"base_revision": 1})
    out, store = tmp_path / "out", tmp_path / "annotations.sqlite"
    ran = robogaze("annotations", store, "--out", out)
    assert (ran.code, ran.err) == (0, f"8 reports: {out}\n")
    assert "Annotations" in ran.out
    reports = load_reports(out / "ann")
    assert [report.author for report in reports] == ["ann"] * 4
    assert sorted(report.verdict for report in reports) == ["clean", "clean", "faulty", "faulty"]
    agreed = json.loads(robogaze("agree", out / "ann", out / "bob", "--resamples", 20, "--json").out)
    assert (agreed["annotators"], agreed["overall"]["tiou"]["value"]) == (["ann", "bob"], 1.0)
    scored = robogaze("evaluate", "--reference", out / "ann", "--prediction", f"bob={out / 'bob'}", "--resamples", 20)
    assert scored.code == 0, scored.err


def test_events_without_a_description_are_counted(tmp_path: Path, robogaze: Shell) -> None:
    with serving(read_manifest(CLIPS), tmp_path, annotators=("ann",)) as server, server.client() as client:
        clip_id = client.get("/api/queue").json()["clips"][0]["clip_id"]
        save(client, clip_id, 0, {**EVENT, "description": " "})
        client.post(f"/api/clips/{clip_id}/submit", json={"base_revision": 1})
    ran = robogaze("annotations", tmp_path / "annotations.sqlite", "--out", tmp_path / "out")
    assert "without a description: 1 event, which robogaze evaluate cannot match" in ran.err


def test_the_summary_is_json_too(tmp_path: Path, robogaze: Shell) -> None:
    with serving(read_manifest(CLIPS), tmp_path, annotators=("ann",)) as server, server.client() as client:
        clip_id = client.get("/api/queue").json()["clips"][0]["clip_id"]
        save(client, clip_id, 0, EVENT)
    ran = robogaze("annotations", tmp_path / "annotations.sqlite", "--json")
    (row,) = json.loads(ran.out)["per_annotator"]
    assert (row["annotator"], row["submitted"], row["drafts"]) == ("ann", 0, 1)


def test_another_taxonomy_is_refused(tmp_path: Path, robogaze: Shell) -> None:
    with serving(read_manifest(CLIPS), tmp_path):
        pass
    ran = robogaze("annotate", CLIPS, "--as", "ann", "--domain", "game", "--store", tmp_path / "annotations.sqlite")
    assert (ran.code, "use another taxonomy than game" in ran.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say who annotates: --as NAME"),
        (("--as", "eve", "--annotators", "ann,bob"), "--as eve is not in --annotators"),
        (("--annotators", "ann,ann"), "the names in --annotators must differ from each other"),
        (("--as", "ann", "--annotators-per-clip", "2"), "--annotators-per-clip must be from 1 to 1"),
        (("--as", "ann", "--sample", "5"), "--sample needs --review"),
        (
            ("--as", "ann", "--review", ".", "--calibration", "."),
            "--review cannot be used with --from or --calibration",
        ),
    ],
)
def test_invalid_options_are_a_usage_error(robogaze: Shell, arguments: tuple[str, ...], message: str) -> None:
    ran = robogaze("annotate", CLIPS, *arguments)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_what_is_missing_is_named(robogaze: Shell, tmp_path: Path) -> None:
    assert "give the clips to annotate" in robogaze("annotate", "--as", "ann").err
    assert "none.mp4 does not exist" in robogaze("annotate", tmp_path / "none.mp4", "--as", "ann").err
    missing = robogaze("annotations", tmp_path / "none.sqlite")
    assert (missing.code, "none.sqlite does not exist" in missing.err) == (1, True)
    assert "none.jsonl does not exist" in robogaze("annotate", CLIPS, "--as", "ann", "--from", "none.jsonl").err


def test_a_port_in_use_is_an_error(tmp_path: Path, robogaze: Shell) -> None:
    with annotating(tmp_path, str(CLIPS), "--as", "ann") as process:
        port = httpx2.URL(process.addresses[0]).port
        ran = robogaze(
            "annotate", CLIPS, "--as", "bob", "--store", tmp_path / "b.sqlite", "--port", port, "--no-browser"
        )
    assert (ran.code, f"--port {port} cannot be used" in ran.err) == (1, True)


def test_disagreements_are_settled_in_the_store_and_survive_a_kill(tmp_path: Path, robogaze: Shell) -> None:
    clip_id = "cube_teleports"
    with serving(read_manifest(CLIPS), tmp_path) as server:
        for token, events in zip(TOKENS, ([EVENT], []), strict=True):
            with server.client(token) as client:
                save(client, clip_id, 0, *events)
                client.post(f"/api/clips/{clip_id}/submit", json={"base_revision": 1})
    with annotating(tmp_path, str(CLIPS), "--as", "eve", "--adjudicate") as process, process.client() as client:
        (disagreement,) = client.get(f"/api/clips/{clip_id}").json()["disagreements"]
        taken = [event["id"] for event in disagreement["events"].values()]
        decision = {"disagreement": disagreement["id"], "choice": "events", "events": taken, "comment": "It is soft."}
        content = {"base_revision": 0, "decisions": [decision], "seconds_spent": 4.0}
        assert client.put(f"/api/clips/{clip_id}", json=content).json() == {"revision": 1}
        os.kill(process.popen.pid, signal.SIGKILL)
    with annotating(tmp_path, str(CLIPS), "--as", "eve", "--adjudicate") as process, process.client() as client:
        kept = client.get(f"/api/clips/{clip_id}").json()["annotation"]
        assert [(given["comment"], given["by"]) for given in kept["decisions"]] == [("It is soft.", "eve")]
        assert client.post(f"/api/clips/{clip_id}/submit", json={"base_revision": 1}).status_code == 200
    ran = robogaze("annotations", tmp_path / "annotations.sqlite", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    (report,) = load_reports(tmp_path / "out" / "adjudicated")
    assert [(event.type, event.severity) for event in report.events] == [("blur", 2)]


def test_adjudication_takes_no_option_of_annotating(robogaze: Shell) -> None:
    ran = robogaze("annotate", CLIPS, "--as", "eve", "--adjudicate", "--review", CLIPS)
    assert (ran.code, "--adjudicate can be used only with" in ran.err) == (2, True)


def test_a_store_without_two_annotators_has_nothing_to_settle(tmp_path: Path, robogaze: Shell) -> None:
    ran = robogaze("annotate", CLIPS, "--as", "eve", "--adjudicate", "--store", tmp_path / "none.sqlite")
    assert (ran.code, "does not exist" in ran.err) == (1, True)


def test_a_clip_that_is_open_again_does_not_stay_in_the_folder_of_an_earlier_export(
    tmp_path: Path, robogaze: Shell
) -> None:
    store, out, entries = tmp_path / "annotations.sqlite", tmp_path / "out", read_manifest(CLIPS)
    for severity, left in ((3, ["adjudicated", "ann", "bob"]), (5, ["ann", "bob"])):
        with closing(open_store(store)) as opened:
            given = {"ann": {"cube_slips": [FLOATS]}, "bob": {"cube_slips": [{**FLOATS, "severity": severity}]}}
            annotate(opened, entries, given)
        with adjudicating(store, entries):
            pass
        ran = robogaze("annotations", store, "--out", out)
        assert sorted(path.parent.name for path in out.rglob("cube_slips.json")) == left
    assert "removed, because open again: adjudicated/cube_slips.json" in ran.err
