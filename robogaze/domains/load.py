"""From folders of data to a `Domain`.

A domain is found by name on the built-in shelves, or by the path of a folder that holds `domain.yaml`. Beside
`domain.yaml` stand `taxonomy.yaml`, `pipelines/*.yaml` and, for a user's own domain, `prompts/`; what is not
there is looked up on the built-in shelves.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from robogaze.domains.links import check_links
from robogaze.domains.model import Domain, DomainFile, PipelineSpec, StageSpec, Taxonomy
from robogaze.domains.prompts import Prompts
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import YamlText, read_yaml
from robogaze.errors import InputError

SHARED = "_shared"


def domain_folders() -> dict[str, Path]:
    """The built-in domains by name."""
    return {path.parent.name: path.parent for path in sorted(resource_folder("taxonomy").glob("*/domain.yaml"))}


def default_domain() -> str:
    """The name of the built-in domain that is used when none is named."""
    for name, folder in domain_folders().items():
        if read_yaml(folder / "domain.yaml").parse(DomainFile).default:
            return name
    raise InputError(f"no domain in {resource_folder('taxonomy')} says 'default: true'; name one with --domain")


def find_domain(name_or_path: str | Path) -> Path:
    """The folder of a domain; a Path is never a name.

    Raises InputError with the known names when there is none, DomainError when a link in it leads out of it.
    """
    known = domain_folders()
    if isinstance(name_or_path, str) and name_or_path in known:
        return known[name_or_path]
    folder = Path(name_or_path)
    if (folder / "domain.yaml").is_file():
        if _is_own(folder):
            check_links(folder)
        return folder
    raise InputError(
        f"{name_or_path} is neither a built-in domain ({', '.join(known)}) nor a folder with a domain.yaml; "
        "make one with: robogaze domain new"
    )


def _is_own(folder: Path) -> bool:
    """Whether a domain's folder is a user's; what comes with RoboGaze may be installed as links."""
    return not folder.resolve().is_relative_to(resource_folder("taxonomy").resolve())


def load_domain(name_or_path: str | Path) -> Domain:
    """Load a domain. Raises DomainError with file and line for the first thing that does not fit."""
    folder = find_domain(name_or_path)
    described = read_yaml(folder / "domain.yaml")
    file = described.parse(DomainFile)
    shipped = resource_folder("taxonomy") / file.id
    bundle = (folder,) if folder.resolve() == shipped.resolve() else (folder, shipped)
    taxonomy = read_yaml(_first([path / "taxonomy.yaml" for path in bundle])).parse(Taxonomy)
    files = {path.name: path for home in reversed(bundle) for path in sorted((home / "pipelines").glob("*.yaml"))}
    pipelines = {path.stem: _pipeline(path) for _, path in sorted(files.items())}
    for key in ("default_pipeline", "pipeline_without_model"):
        name = getattr(file, key)
        if name is not None and name not in pipelines:
            known = ", ".join(pipelines) or "none"
            raise described.fault(f"{key}: there is no pipeline {name!r} (there is: {known})", (key,))
    judges = {
        path.stem: path
        for home in (resource_folder("judges"), folder / "judges")
        for path in sorted(home.glob("*.yaml"))
    }
    if file.judge not in judges:
        raise described.fault(f"judge: there is no judge {file.judge!r} (there is: {', '.join(judges)})", ("judge",))
    judge = judges[file.judge]
    prompt_folders = tuple(path for path in _prompt_folders(folder, file.id) if path.is_dir())
    prompts = Prompts(prompt_folders, home=folder if _is_own(folder) else None)
    fingerprint = _fingerprint([*(path for path in bundle if path.is_dir()), *prompts.folders], judge)
    return Domain(file=file, taxonomy=taxonomy, pipelines=pipelines, prompts=prompts, fingerprint=fingerprint)


def _first(candidates: list[Path]) -> Path:
    """The first file that exists, else the first candidate: where the user would put it."""
    return next((path for path in candidates if path.is_file()), candidates[0])


def _prompt_folders(folder: Path, name: str) -> tuple[Path, ...]:
    """Where prompts are looked up, in order; the shared folder has one folder per method."""
    prompts = resource_folder("prompts")
    shared = prompts / SHARED
    methods = sorted(path for path in shared.iterdir() if path.is_dir())
    return (folder / "prompts", prompts / name, *methods, shared)


def _pipeline(path: Path) -> PipelineSpec:
    file = read_yaml(path)
    content = file.content
    if not isinstance(content, dict) or not isinstance(content.get("stages"), list) or not content["stages"]:
        raise file.fault("a pipeline holds 'description' and a list of 'stages'")
    for key in content:
        if key not in ("description", "stages"):
            raise file.fault(f"{key}: unknown key", (key,))
    if not isinstance(content.get("description"), str):
        raise file.fault("description: a sentence is missing")
    stages = tuple(_stage(file, index) for index in range(len(content["stages"])))
    return PipelineSpec(name=path.stem, path=path, description=content["description"].strip(), stages=stages)


def _stage(file: YamlText, index: int) -> StageSpec:
    written = file.content["stages"][index]
    key = ("stages", index)
    if isinstance(written, str):
        return StageSpec(name=written, parameters={}, line=file.lines[key])
    if isinstance(written, dict) and len(written) == 1:
        name, parameters = next(iter(written.items()))
        # To YAML `on` is no text, and neither is 1.
        if isinstance(name, str) and isinstance(parameters, dict) and all(isinstance(one, str) for one in parameters):
            lines = {below[3:]: line for below, line in file.lines.items() if below[:3] == (*key, name)}
            return StageSpec(name=name, parameters=parameters, line=file.lines[key], lines=lines)
    raise file.fault("a stage is a name, or a name with its parameters", key)


def _fingerprint(folders: Iterable[Path], judge: Path) -> str:
    """SHA-256 over the names and contents of every file of the bundle, independent of where it lies."""
    digest = sha256()
    for number, folder in enumerate(folders):
        files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        for name, path in sorted(files.items()):
            if any(part.startswith(".") for part in name.split("/")):
                continue  # what an editor or a version control keeps beside the files
            digest.update(f"{number}/{name}\0".encode())
            digest.update(sha256(path.read_bytes()).digest())
    digest.update(sha256(judge.read_bytes()).digest())
    return digest.hexdigest()
