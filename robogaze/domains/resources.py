"""The folders of data that come with RoboGaze: taxonomy, prompts, judges and datasets.

In a wheel these folders are inside the package; in a checkout or an editable install, they are next to the package.
"""

from pathlib import Path

import robogaze


def resource_folder(name: str) -> Path:
    """The folder of data that is called `name`, such as "prompts". Raises FileNotFoundError if the installation lacks
    this folder.
    """
    package = Path(robogaze.__file__).parent
    candidates = (package / "_resources" / name, package.parent / name)
    for folder in candidates:
        if folder.is_dir():
            return folder
    tried = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"this installation of robogaze lacks its {name} folder (looked for {tried})")
