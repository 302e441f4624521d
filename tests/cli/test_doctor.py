"""`robogaze doctor`."""

import json
import random
import re
from pathlib import Path

import pytest
from stub_server import Reply, Stub, pictures_of, running, schema_of

from cli.running import Shell
from robogaze.backends.rehearsal import plainest
from robogaze.doctor import _image


def test_installed_packages_are_listed(robogaze: Shell) -> None:
    ran = robogaze("doctor")
    assert ran.code == 0
    assert "ok   av:" in ran.out
    assert "robogaze[vllm]" in ran.out


def reads_images(body: dict) -> Reply | None:
    """A model that reads the number in the image: it is drawn with the same seed."""
    if "number" not in str(body["messages"][1]["content"][-1]):
        return Reply(content=json.dumps(plainest(schema_of(body))))
    shown = pictures_of(body)[0]
    rng = random.Random(3)
    number = "".join(rng.choice("123456789") for _ in range(4))
    assert shown == _image(number).jpeg
    return Reply(content=json.dumps({"number": number}))


def doctor_checks(robogaze: Shell, url: str) -> tuple[int, dict[str, dict]]:
    ran = robogaze("doctor", "--model", f"openai:stub@{url}", "--json")
    checks = [check for check in json.loads(ran.out)["checks"] if check["what"].startswith("model: ")]
    return ran.code, {check["what"].partition(": ")[2]: check for check in checks}


@pytest.fixture
def _seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number in the image is always the same."""
    seeded = random.Random
    monkeypatch.setattr(random, "Random", lambda *seed: seeded(*(seed or (3,))))


@pytest.mark.usefixtures("_seeded")
def test_model_that_passes_every_check(robogaze: Shell) -> None:
    with running(Stub(behave=reads_images)) as url:
        code, checks = doctor_checks(robogaze, url)
    assert code == 0
    assert all(check["ok"] for check in checks.values()), checks


@pytest.mark.usefixtures("_seeded")
def test_output_in_the_docs_is_what_it_prints(robogaze: Shell) -> None:
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    (documented,) = re.findall(r"```text\n(ok   model: .*?)```", page, re.DOTALL)
    with running(Stub(behave=reads_images)) as url:
        printed = robogaze("doctor", "--model", f"openai:stub@{url}").out
    assert printed.endswith(documented)


def test_server_that_ignores_schemas_and_images_fails(robogaze: Shell) -> None:
    raw = json.dumps({"choices": [{"message": {"content": "Good morning! It says 42."}}]}).encode()
    with running(Stub(behave=lambda body: Reply(raw=raw))) as url:
        code, checks = doctor_checks(robogaze, url)
    assert code == 1
    assert checks["server"]["ok"]
    assert not checks["reads images"]["ok"]
    assert not checks["follows a JSON schema"]["ok"]
    assert "Good morning" in checks["follows a JSON schema"]["message"]
    assert not checks["counts tokens"]["ok"]


def test_exit_code_is_5_without_a_server(robogaze: Shell) -> None:
    assert robogaze("doctor", "--model", "openai:m@http://127.0.0.1:9/v1").code == 5


def test_no_request_is_sent_to_a_batch(robogaze: Shell, tmp_path: Path) -> None:
    ran = robogaze("doctor", "--model", f"batch:m@{tmp_path / 'post'}", "--json")
    assert ran.code == 0
    (check,) = [check for check in json.loads(ran.out)["checks"] if check["what"].startswith("model: ")]
    assert (check["what"], check["ok"]) == ("model: batch", None)
    assert "not checked" in check["message"]
    assert list(tmp_path.rglob("*.jsonl")) == []
