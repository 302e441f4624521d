"""Starts a domain: a folder with the minimum set of files that work together."""

import re
from pathlib import Path

from robogaze.domains.load import domain_folders
from robogaze.errors import InputError

_FILES = {
    "domain.yaml": """\
schema_version: 1
id: "{name}"
version: 0.1.0
title: "{title}"
summary: a generated video of {title}        # completes "You examine ..." in prompts
default_pipeline: vanilla
judge: robogaze
""",
    "taxonomy.yaml": """\
# What can go wrong. One specialist examines one dimension; a type is one kind of fault.
schema_version: 1

severity:
  - {{level: 1, name: cosmetic, definition: It is visible and changes nothing.}}
  - {{level: 2, name: minor, definition: A local fault that leaves no doubt about what happened.}}
  - {{level: 3, name: moderate, definition: Something that matters is affected.}}
  - {{level: 4, name: severe, definition: It hides whether the thing was done correctly.}}
  - {{level: 5, name: catastrophic, definition: Something impossible is shown.}}

cascade: >-
  One cause is one event in each dimension in which it is visible, each with its own description.

not_annotated:
  - Things that go out of view or behind something else and come back.

dimensions:
  - id: consistency
    code: C
    name: Consistency
    definition: Whether things stay the same things from frame to frame.
    # needs: [instruction]     for a dimension that cannot be judged without one
    # object_strips: true      to show its specialist crops of the objects over time
    # always: true             for a dimension that is never ruled out
    types:
      - id: disappearance
        name: Disappearance
        definition: Something visible vanishes without leaving the view and without being covered.
        cues:
          - The place where it stood shows bare background.
        span:
          covers: appearance     # appearance, change, act, state or outcome
          starts: the last moment at which it is seen
          ends: the moment it is plain that it is gone
        severity: 4
        # evidence_limiting: true   for a type that says that the frames cannot decide
""",
    "pipelines/vanilla.yaml": """\
description: One request about the whole clip.
stages:
  - direct: {{prompt: vanilla}}
  - compose: {{accept_unverified: true}}
""",
    "pipelines/specialists.yaml": """\
description: A specialist for each dimension, and a critic.
stages:
  - propose
  - verify
  - compose
""",
}


def scaffold(folder: Path) -> tuple[Path, ...]:
    """Write the files and return their paths; the new domain uses the shared prompts.

    Raises InputError if the folder exists or cannot be created, or its name cannot be the name of a domain.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z0-9_]{1,64}", name):
        raise InputError(f"{name!r} cannot be the name of a domain; use a-z, 0-9 and _ (for example kitchen_v2)")
    if name in domain_folders():
        raise InputError(f"{name} is a built-in domain; choose another name")
    if folder.exists():
        raise InputError(f"{folder} exists; choose a folder that does not exist yet")
    files = {folder / relative: content for relative, content in _FILES.items()}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.format(name=name, title=name.replace("_", " ")), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror}); choose another folder") from error
    return tuple(files)
