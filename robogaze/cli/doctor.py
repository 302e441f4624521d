"""`robogaze doctor`: what is installed, and what a model can do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.doctor import DoctorCheck

_MARKS = {True: "ok  ", False: "FAIL", None: "-   "}


@click.command()
@click.option("--model", help="Try this model: KIND:NAME[@URL], or a YAML file of models.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(model: str | None, as_json: bool) -> int:
    """Say what is installed and, with --model, whether a server answers, sees pictures, obeys a JSON schema and
    counts tokens. Exit code 1 when something fails, 5 when no server answers.
    """
    from robogaze import doctor as examination

    findings = list(examination.installed())
    if model is not None:
        findings.extend(_examine(model))
    if as_json:
        click.echo(examination.as_json(findings))
    else:
        for one in findings:
            click.echo(f"{_MARKS[one.ok]} {one.what}: {one.message}")
    return 1 if any(one.ok is False for one in findings) else 0


def _examine(spec: str) -> list[DoctorCheck]:
    import asyncio
    import random

    from robogaze.backends import Models, ModelsConfig
    from robogaze.cli import quiet_retries
    from robogaze.doctor import examine

    quiet_retries()

    async def go() -> list[DoctorCheck]:
        models = Models.open(ModelsConfig.read(spec), None, os.environ)
        try:
            return await examine(models, random.Random())
        finally:
            await models.close()

    return asyncio.run(go())
