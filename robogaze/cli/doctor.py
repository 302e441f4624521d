"""`robogaze doctor`: checks the installation and models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robogaze.doctor import DoctorCheck

_MARKS = {True: "ok  ", False: "FAIL", None: "-   "}


@click.command()
@click.option("--model", help="Check this model: KIND:NAME[@URL], or a YAML file of models.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(model: str | None, as_json: bool) -> int:
    """Check what is installed. With --model, also check whether the model answers, reads images, follows a JSON schema
    and counts tokens. The exit code is 1 when a check fails, and 5 when no server answers.
    """
    from robogaze import doctor as library

    checks = list(library.installed())
    if model is not None:
        checks.extend(_examine(model))
    if as_json:
        click.echo(library.as_json(checks))
    else:
        for check in checks:
            click.echo(f"{_MARKS[check.ok]} {check.what}: {check.message}")
    return 1 if any(check.ok is False for check in checks) else 0


def _examine(spec: str) -> list[DoctorCheck]:
    import asyncio
    import random

    from robogaze.backends import Models, ModelsConfig
    from robogaze.cli import quiet_retries
    from robogaze.doctor import examine

    quiet_retries()

    async def check_models() -> list[DoctorCheck]:
        models = Models.open(ModelsConfig.read(spec), None, os.environ)
        try:
            return await examine(models, random.Random())
        finally:
            await models.close()

    return asyncio.run(check_models())
