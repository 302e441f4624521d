"""A judge from what a user writes on the command line."""

from collections.abc import Mapping
from pathlib import Path

from robogaze.errors import InputError
from robogaze.judges.base import Judge
from robogaze.judges.rubric import read_rubric

TABLE = "table:"


def open_judge(
    spec: str, rubric: str, environ: Mapping[str, str], *, answers: Path | None = None, sample: int = 0
) -> Judge:
    """The judge that `spec` names: `offline`, `table:FILE`, a model as KIND:NAME[@URL], or a YAML file of models.

    A model rates by the rubric of that name or file; the others bring their own ratings. `environ` holds the keys of
    servers, `answers` is the file of stored answers (the user's cache without one). With another `sample` a model is
    asked again where an answer is stored. Raises InputError when there is no such judge or rubric.
    """
    if spec == "offline":
        from robogaze.judges.offline import OfflineJudge

        return OfflineJudge.read()
    if spec.startswith(TABLE):
        from robogaze.judges.table import TableJudge

        return TableJudge.read(Path(spec.removeprefix(TABLE)))
    from robogaze.backends import ModelsConfig
    from robogaze.judges.llm import ModelJudge

    try:
        config = ModelsConfig.read(spec)
    except InputError as error:
        raise InputError(f"a judge is offline, table:FILE or a model; {error}") from error
    return ModelJudge(read_rubric(rubric), config, answers or _cache_path(), environ, sample)


def _cache_path() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("robogaze") / "answers.sqlite"
