"""Where the data that comes with RoboGaze stands: the shelves taxonomy, prompts, judges and datasets.

In a wheel they lie inside the package; in a checkout or an editable install, beside it.
"""

from pathlib import Path

import robogaze

SHELVES = ("taxonomy", "prompts", "judges", "datasets")


def shelf(name: str) -> Path:
    """The folder of one shelf.

    Raises FileNotFoundError when the installation lacks it.
    """
    package = Path(robogaze.__file__).parent
    candidates = (package / "_shelves" / name, package.parent / name)
    for folder in candidates:
        if folder.is_dir():
            return folder
    tried = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"this installation of robogaze lacks its {name} folder (looked for {tried})")
