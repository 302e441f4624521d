"""Where the data that ships with RoboGaze lies: the folders taxonomy, prompts, judges and datasets.

In a wheel they are inside the package; in a checkout or an editable install, beside it.
"""

from pathlib import Path

import robogaze

RESOURCES = ("taxonomy", "prompts", "judges", "datasets")


def resource_folder(name: str) -> Path:
    """The folder of this name, one of RESOURCES.

    Raises FileNotFoundError when the installation lacks it.
    """
    package = Path(robogaze.__file__).parent
    candidates = (package / "_resources" / name, package.parent / name)
    for folder in candidates:
        if folder.is_dir():
            return folder
    tried = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"this installation of robogaze lacks its {name} folder (looked for {tried})")
