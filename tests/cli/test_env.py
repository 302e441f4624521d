"""`robogaze env`: what it prints, its exit codes, and a server as a process."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from interactive.builder.scripted_vault import SLOT, STALE, entry, script, studio

from cli.running import Shell
from robogaze.interactive.environments import load_folder


def test_list_names_the_environments_and_their_bugs(robogaze: Shell) -> None:
    ran = robogaze("env", "list")
    assert ran.code == 0
    assert re.search(
        r"^castle +The Castle of Saint Orel .*fragments \(easy\), drawer \(easy\), dropped \(medium\)$", ran.out, re.M
    )
    listed = json.loads(robogaze("env", "list", "--json").out)["environments"]
    assert [row["name"] for row in listed] == ["castle", "lighthouse", "warehouse"]
    assert [bug["difficulty"] for bug in listed[1]["bugs"]] == ["easy", "medium", "hard"]


def test_check_passes_a_sound_environment(robogaze: Shell) -> None:
    ran = robogaze("env", "check", "castle")
    assert ran.code == 0
    assert ran.out.count("ok ") == 14
    assert ran.err == "14 of 14 checks passed\n"


def test_check_ends_with_1_where_a_check_fails(robogaze: Shell, tmp_path: Path) -> None:
    folder = Path(copytree(load_folder("castle").path, tmp_path / "castle"))
    (folder / "walkthrough.json").write_text('["look"]')
    ran = robogaze("env", "check", folder)
    assert ran.code == 1
    assert "FAILED the walkthrough wins in the clean build: it is not at its end" in ran.out
    result = json.loads(robogaze("env", "check", folder, "--json").out)
    assert result["failed"] == 2
    assert [row["check"] for row in result["checks"] if row["problem"]] == [
        "the walkthrough wins in the build with every bug",
        "the walkthrough wins in the clean build",
    ]


def test_check_of_an_unreachable_hub_ends_with_5(robogaze: Shell) -> None:
    with socket.socket() as taken:  # so that no other server gets this port
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        ran = robogaze("env", "check", address)
    assert ran.code == 5
    assert ran.err.startswith(f"error: the server at {address} cannot be reached")


def test_a_served_environment_is_checked_over_http_and_ends_with_ctrl_c(robogaze: Shell) -> None:
    command = [sys.executable, "-m", "robogaze", "env", "serve", "castle:clean", "--port", "0"]
    # A background job of a shell without job control ignores Ctrl-C, and so would its children.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=_heeding_interrupts) as server:
        assert server.stderr is not None
        try:
            said = server.stderr.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", said)
            assert address is not None, said
            ran = robogaze("env", "check", address.group())
            assert (ran.code, ran.err) == (0, "5 of 5 checks passed\n")
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=60) == 130
        finally:
            server.kill()


def _heeding_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()


@pytest.mark.usefixtures("one_scripted_model")
def test_new_builds_an_environment_and_resumes(robogaze: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    command = ("env", "new", "A vault opens for a coin.", "--out", str(folder), "--bugs", "easy=1,medium=1", "--model")
    stopped = robogaze(*command, script(tmp_path / "script.yaml", studio(SLOT)))
    assert stopped.code == 1
    assert "bug slot (easy): proved in 1 commands" in stopped.err
    assert not (folder / "world.yaml").exists()
    built = robogaze(*command, script(tmp_path / "script.yaml", [entry("build_bug", None, STALE)]), "--json")
    assert built.code == 0
    assert [bug["id"] for bug in json.loads(built.out)["bugs"]] == ["slot", "stale"]
    assert robogaze("env", "check", str(folder)).code == 0


def test_new_refuses_other_bugs_before_it_asks(robogaze: Shell, tmp_path: Path) -> None:
    model = script(tmp_path / "script.yaml", [])
    command = ("env", "new", "A vault.", "--out", tmp_path / "vault", "--model", model, "--bugs")
    assert robogaze(*command, "many").code == 2
    assert "the difficulty of a bug must be one of easy, medium, hard" in robogaze(*command, "odd=1").err
