"""Loads a folder of data as a `Domain`.

A domain is found by the name of a built-in one, or by the path of a folder with `domain.yaml`. Next to it are
`taxonomy.yaml`, `pipelines/*.yaml`, `agents/*.yaml` and, for a user's own domain, `prompts/`. Missing files are taken
from the built-in domain of the same id; missing prompts are also taken from the shared folders.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from robogaze.domains.links import check_links
from robogaze.domains.model import AgentSpec, Domain, DomainFile, PipelineSpec, StageSpec, Taxonomy
from robogaze.domains.prompts import Prompts
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import YamlText, read_yaml
from robogaze.errors import InputError

SHARED = "_shared"


def domain_folders() -> dict[str, Path]:
    """The built-in domains by name."""
    return {path.parent.name: path.parent for path in sorted(resource_folder("taxonomy").glob("*/domain.yaml"))}


def default_domain() -> str:
    """The name of the built-in domain that is used if none is given."""
    for name, folder in domain_folders().items():
        if read_yaml(folder / "domain.yaml").parse(DomainFile).default:
            return name
    raise InputError(f"no domain in {resource_folder('taxonomy')} has 'default: true'; name one with --domain")


def find_domain(name_or_path: str | Path) -> Path:
    """The folder of a domain. A str can be the name of a built-in domain or a path; a Path is always a path.

    Raises InputError, which lists the known names, if the domain does not exist. Raises DomainError if a link in a
    user's folder leads out of this folder.
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
        "start one with: robogaze domain new FOLDER"
    )


def _is_own(folder: Path) -> bool:
    """Whether a domain's folder is a user's; the built-in ones may be installed as links."""
    return not folder.resolve().is_relative_to(resource_folder("taxonomy").resolve())


def load_domain(name_or_path: str | Path) -> Domain:
    """Load a domain. Raises DomainError with file and line for the first error."""
    folder = find_domain(name_or_path)
    domain_yaml = read_yaml(folder / "domain.yaml")
    file = domain_yaml.parse(DomainFile)
    built_in = resource_folder("taxonomy") / file.id
    folders = (folder,) if folder.resolve() == built_in.resolve() else (folder, built_in)
    taxonomy = read_yaml(_first([path / "taxonomy.yaml" for path in folders])).parse(Taxonomy)
    pipelines = {path.stem: _pipeline(path) for path in _yaml_files(folders, "pipelines")}
    agents = {path.stem: read_yaml(path).parse(AgentSpec) for path in _yaml_files(folders, "agents")}
    classifiers = {path.stem: read_yaml(path) for path in _yaml_files(folders, "classifiers")}
    for key in ("default_pipeline", "pipeline_without_model"):
        name = getattr(file, key)
        if name is not None and name not in pipelines:
            known = ", ".join(pipelines) or "none"
            raise domain_yaml.fault(f"{key}: there is no pipeline {name!r}; the pipelines are: {known}", (key,))
    judges = {
        path.stem: path
        for parent in (resource_folder("judges"), folder / "judges")
        for path in sorted(parent.glob("*.yaml"))
    }
    if file.judge not in judges:
        raise domain_yaml.fault(
            f"judge: there is no judge {file.judge!r}; the judges are: {', '.join(judges)}", ("judge",)
        )
    judge = judges[file.judge]
    prompt_folders = tuple(path for path in _prompt_folders(folder, file.id) if path.is_dir())
    prompts = Prompts(prompt_folders, domain_path=folder if _is_own(folder) else None)
    fingerprint = _fingerprint([*(path for path in folders if path.is_dir()), *prompts.folders], judge)
    return Domain(
        file=file,
        taxonomy=taxonomy,
        pipelines=pipelines,
        agents=agents,
        classifiers=classifiers,
        prompts=prompts,
        fingerprint=fingerprint,
    )


def _yaml_files(folders: tuple[Path, ...], name: str) -> list[Path]:
    """The YAML files in a subfolder of a domain, by name; the first folder that has a file counts."""
    files = {path.name: path for parent in reversed(folders) for path in (parent / name).glob("*.yaml")}
    return [path for _, path in sorted(files.items())]


def _first(candidates: list[Path]) -> Path:
    """The first file that exists; if none exists, the first candidate, because a user would add the file there."""
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
        raise file.fault("a pipeline must have 'description' and a list of 'stages'")
    for key in content:
        if key not in ("description", "stages"):
            raise file.fault(f"{key}: unknown key", (key,))
    if not isinstance(content.get("description"), str):
        raise file.fault("description: must be a sentence")
    stages = tuple(_stage(file, index) for index in range(len(content["stages"])))
    return PipelineSpec(name=path.stem, path=path, description=content["description"].strip(), stages=stages)


def _stage(file: YamlText, index: int) -> StageSpec:
    content = file.content["stages"][index]
    key = ("stages", index)
    if isinstance(content, str):
        return StageSpec(name=content, parameters={}, line=file.lines[key])
    if isinstance(content, dict) and len(content) == 1:
        name, parameters = next(iter(content.items()))
        # YAML reads `on` and `1` as other values than text.
        if isinstance(name, str) and isinstance(parameters, dict) and all(isinstance(word, str) for word in parameters):
            lines = {below[3:]: line for below, line in file.lines.items() if below[:3] == (*key, name)}
            return StageSpec(name=name, parameters=parameters, line=file.lines[key], lines=lines)
    raise file.fault("a stage must be a name, or a name with its parameters", key)


def _fingerprint(folders: Iterable[Path], judge: Path) -> str:
    """SHA-256 over the names and contents of all files of a domain, independent of their location."""
    digest = sha256()
    for number, folder in enumerate(folders):
        files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        for name, path in sorted(files.items()):
            if any(part.startswith(".") for part in name.split("/")):
                continue  # files of editors and version control
            digest.update(f"{number}/{name}\0".encode())
            digest.update(sha256(path.read_bytes()).digest())
    digest.update(sha256(judge.read_bytes()).digest())
    return digest.hexdigest()
