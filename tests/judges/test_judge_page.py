"""docs/judges.md: the example of a judge in another package works as it is written."""

import re
from pathlib import Path

import pytest

from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.evaluate import evaluate

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "datasets" / "demo" / "annotations.jsonl"


def test_the_example_is_opened_by_its_name_and_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "judges.md").read_text()
    (code,) = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    (entry,) = re.findall(r'```toml\n\[project\.entry-points\."(.*?)"\]\n(\w+) = "(.*?)"\n```', page)
    assert code.count("\n") < 30
    (tmp_path / "exact.py").write_text(code)
    metadata = tmp_path / "exact-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: exact\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{entry[0]}]\n{entry[1]} = {entry[2]}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = evaluate(DEMO, DEMO, EvaluationConfig(resamples=10, floors=False), judge=entry[1])
    assert result.judge == "exact"
    assert result.systems[0].macro["desc_f1"].value == 1.0


@pytest.mark.parametrize("page", ["docs/metrics/README.md", "docs/compare.md", "docs/agreement.md"])
def test_python_of_the_pages_runs(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(ROOT)
    for code in re.findall(r"```py\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        exec(compile(code, page, "exec"), {})
    assert capsys.readouterr().out.strip()
