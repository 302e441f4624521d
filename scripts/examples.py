"""Run the examples of the documentation and put what they print into its pages.

    python scripts/examples.py             rewrite the outputs
    python scripts/examples.py --picture   also take the picture of the report page (needs Chromium)

An example is a block of `sh` or `python` with a block of `text`, its output, right below. A line `...` in the output
stands for lines left out; as many lines as are shown before and after it are kept. Requests to the model server are
answered by a stub that replays docs/examples/replies.yaml over HTTP.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from bench.stub_server import Body, Reply, Stub, running, stage_of

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "score.md")
PICTURE = ROOT / "docs" / "pictures" / "report.webp"
SERVER = "http://127.0.0.1:8000/v1"
LEFT_OUT = "..."
EXAMPLE = re.compile(r"```(?P<language>sh|python)\n(?P<code>[^`]*)```\n\n```text\n(?P<output>[^`]*)```\n")


@contextmanager
def checkout() -> Iterator[Path]:
    """A folder with what the examples read, and a command `robogaze` that runs this checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("datasets/demo", "docs/examples"):
            shutil.copytree(ROOT / part, folder / part)
        command = folder / "bin" / "robogaze"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from robogaze.cli import main; main()" "$@"\n')
        command.chmod(0o755)
        yield folder


@contextmanager
def model_server() -> Iterator[str]:
    """The address of a server that answers with the first reply in docs/examples/replies.yaml for a stage and subject.

    The subject of a specialist is its dimension, which its prompt names in brackets.
    """
    lines = yaml.safe_load((ROOT / "docs/examples/replies.yaml").read_text())

    def behave(body: Body) -> Reply | None:
        asked = json.dumps(body)
        fitting = (
            line["reply"]
            for line in lines
            if line["when"]["stage"] == stage_of(body) and f"({line['when'].get('subject', '')}" in asked
        )
        reply = next(fitting, None)
        return None if reply is None else Reply(content=json.dumps(reply))

    with running(Stub(behave=behave)) as address:
        yield address


def run(language: str, code: str, folder: Path, server: str) -> list[str]:
    """The lines that commands or a Python program print to stdout."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    program = {"sh": "bash", "python": sys.executable}[language]
    command = [program, "-c", code.replace(SERVER, server)]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{code}ended with exit code {done.returncode}:\n{done.stderr}")
    return [line.rstrip() for line in done.stdout.replace(server, SERVER).rstrip().splitlines()]


def shortened(lines: list[str], shown: list[str]) -> list[str]:
    """The lines of an output that are shown, by those that were shown before."""
    if LEFT_OUT not in shown:
        return lines
    first = shown.index(LEFT_OUT)
    last = len(shown) - first - 1
    return [*lines[:first], LEFT_OUT, *lines[len(lines) - last :]]


def with_outputs(text: str, folder: Path, server: str) -> str:
    """A page of Markdown with the output of every example as it is now."""

    def rerun(example: re.Match[str]) -> str:
        printed = run(example["language"], example["code"], folder, server)
        shown = "".join(f"{line}\n" for line in shortened(printed, example["output"].splitlines()))
        return f"```{example['language']}\n{example['code']}```\n\n```text\n{shown}```\n"

    return EXAMPLE.sub(rerun, text)


def take_picture(page: Path) -> None:
    """A picture of a report page, 1280 px wide."""
    import cv2
    import numpy as np
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1280, "height": 800})
        view.goto(page.as_uri())
        view.wait_for_timeout(3000)
        shot = cv2.imdecode(np.frombuffer(view.screenshot(), np.uint8), cv2.IMREAD_COLOR)
        browser.close()
    cv2.imwrite(str(PICTURE), shot, [cv2.IMWRITE_WEBP_QUALITY, 80])


def main() -> None:
    """Rewrite the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", action="store_true", help="also take the picture of the report page")
    options = parser.parse_args()
    with checkout() as folder, model_server() as server:
        for page in PAGES:
            page.write_text(with_outputs(page.read_text(), folder, server))
        if options.picture:
            run("sh", "robogaze score datasets/demo/clips.jsonl --out out/demo\n", folder, server)
            take_picture(folder / "out/demo/index.html")


if __name__ == "__main__":
    main()
