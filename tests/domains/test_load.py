"""From folders to a domain: the built-in ones, a user's own, and what is said when files do not fit."""

from pathlib import Path

import pytest

from robogaze.domains import Domain, default_domain, domain_folders, load_domain
from robogaze.domains.resources import resource_folder
from robogaze.errors import DomainError, InputError

from .folders import change, line_of, make_folder, move, write

ROBOT = {
    "task_progress": {
        "task_incompletion": 4,
        "failed_grasp": 4,
        "failed_placement": 4,
        "premature_termination": 4,
        "ambiguous_task_success": 3,
    },
    "instruction_consistency": {
        "wrong_effector": 4,
        "wrong_object": 4,
        "wrong_target_location": 4,
        "wrong_action_order": 3,
        "ignored_instruction_constraint": 4,
    },
    "object_scene_consistency": {
        "object_hallucination": 4,
        "object_disappearance": 5,
        "object_identity_swap": 4,
        "object_distortion": 3,
        "object_color_or_shape_drift": 3,
    },
    "robot_body_consistency": {
        "hallucinated_robot_part": 5,
        "missing_robot_part": 4,
        "duplicated_arm_or_gripper": 5,
        "robot_body_deformation": 4,
        "left_right_robot_identity_confusion": 4,
    },
    "physical_plausibility": {
        "object_teleportation": 5,
        "object_floating": 4,
        "object_penetration": 4,
        "impossible_motion": 4,
        "grasp_without_visible_support": 4,
    },
    "visual_quality": {
        "blur": 2,
        "occlusion": 2,
        "frame_corruption": 3,
        "camera_instability": 2,
        "low_visibility": 2,
    },
}
"""The dimensions and types of the paper (RoboGaze, Table 6) with the severities its authors published as code."""


@pytest.fixture(params=sorted(domain_folders()))
def built_in(request: pytest.FixtureRequest) -> Domain:
    return load_domain(request.param)


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    return make_folder(tmp_path)


# The built-in domains.


def test_the_robot_domain_has_the_dimensions_and_types_of_the_paper() -> None:
    robot = load_domain("robot")
    found = {name: {kind.id: kind.severity for kind in dimension.types} for name, dimension in robot.dimensions.items()}
    assert list(found) == list(ROBOT)
    assert sum(map(len, ROBOT.values())) == 30
    assert all(types.items() <= found[name].items() for name, types in ROBOT.items())


def test_the_robot_domain_needs_an_instruction_where_the_task_is_judged() -> None:
    robot = load_domain("robot")
    needy = [name for name, dimension in robot.dimensions.items() if dimension.needs]
    assert needy == ["task_progress", "instruction_consistency"]


def test_exactly_one_built_in_domain_is_the_default() -> None:
    defaults = [name for name in domain_folders() if load_domain(name).file.default]
    assert defaults == [default_domain()]


def test_a_built_in_domain_has_the_name_of_its_folder(built_in: Domain) -> None:
    assert built_in.id in domain_folders()


def test_a_built_in_domain_explains_every_type(built_in: Domain) -> None:
    for kind in built_in.types.values():
        assert len(kind.definition.split()) >= 5, f"{kind.id}: a definition is a sentence"
        assert kind.definition.endswith("."), kind.id
        assert all(cue.endswith(".") for cue in kind.cues), kind.id
        assert kind.name.lower() != kind.definition.lower().rstrip("."), kind.id


def test_a_built_in_domain_confuses_a_type_with_others_only(built_in: Domain) -> None:
    for kind in built_in.types.values():
        assert kind.id not in [confusion.type for confusion in kind.confused_with]
        assert all(confusion.tell for confusion in kind.confused_with)


def test_a_built_in_domain_says_what_the_span_of_a_type_covers(built_in: Domain) -> None:
    for kind in built_in.types.values():
        for edge in (kind.span.starts, kind.span.ends):
            assert edge.startswith("the "), f"{kind.id}: {edge!r} is no moment"
            assert not edge.endswith("."), kind.id


def test_the_robot_domain_follows_the_authors_second_version() -> None:
    """What its page says: three types assert no defect, and task progress is examined in every clip."""
    robot = load_domain("robot")
    limiting = {kind.id for kind in robot.types.values() if kind.evidence_limiting}
    assert limiting == {"ambiguous_task_success", "low_visibility", "occlusion"}
    assert [name for name, dimension in robot.dimensions.items() if dimension.always] == ["task_progress"]


def test_a_span_by_the_outcome_ends_with_the_clip(built_in: Domain) -> None:
    outcomes = [kind for kind in built_in.types.values() if kind.span.covers == "outcome"]
    assert all(kind.span.ends in ("the end of the clip", "the end of the recording") for kind in outcomes)


def test_the_severity_rubric_has_five_levels(built_in: Domain) -> None:
    assert [level.level for level in built_in.taxonomy.severity] == [1, 2, 3, 4, 5]
    assert all(level.name and level.definition for level in built_in.taxonomy.severity)


def test_each_type_belongs_to_one_dimension(built_in: Domain) -> None:
    assert {name: built_in.dimension_of[name] for name in built_in.types} == {
        kind.id: dimension.id for dimension in built_in.dimensions.values() for kind in dimension.types
    }


# By name and by path.


def test_a_name_is_a_built_in_domain_and_a_path_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path, "kitchen").rename(tmp_path / "robot")
    monkeypatch.chdir(tmp_path)
    assert load_domain("robot").id == "robot"
    assert load_domain("./robot").id == load_domain(folder).id == load_domain(Path("robot")).id == "kitchen"


def test_a_built_in_domain_is_the_same_by_its_path() -> None:
    for name, folder in domain_folders().items():
        assert load_domain(folder).fingerprint == load_domain(name).fingerprint


@pytest.mark.parametrize("name", ["robots", "./nowhere", ""])
def test_an_unknown_domain_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match=r"neither a built-in domain .*robot.* nor a folder"):
        load_domain(name)


# A user's own domain.


def test_prompts_come_from_the_shared_folders_by_method(kitchen: Path) -> None:
    prompts = load_domain(kitchen).prompts
    found = {name: prompts.path(name).parent.name for name in ("vanilla", "verify", "scan", "zoom_in", "context")}
    assert found == {
        "vanilla": "baselines", "verify": "robogaze", "scan": "glide", "zoom_in": "tools", "context": "_shared"
    }  # fmt: skip


def test_a_shared_prompt_has_its_name_alone() -> None:
    """The shared folders are looked up one after the other, so a second prompt of a name would never be used."""
    names = [path.name for path in (resource_folder("prompts") / "_shared").rglob("*.j2")]
    assert len(names) == len(set(names))


def test_a_users_prompt_takes_precedence(kitchen: Path) -> None:
    own = write(kitchen / "prompts" / "vanilla.md.j2", "Look well.")
    prompts = load_domain(kitchen).prompts
    assert prompts.path("vanilla") == own
    assert prompts.render("vanilla", {}) == "Look well."
    assert prompts.path("propose").parent.name == "robogaze"


def test_a_users_partial_is_included_by_a_shared_prompt(kitchen: Path) -> None:
    write(kitchen / "prompts" / "severity.md.j2", "One to five, as you like.")
    domain = load_domain(kitchen)
    variables = {"dimensions": (), "severity": (), "cascade": "", "not_annotated": ()}
    assert "One to five, as you like." in domain.prompts.render("taxonomy", variables)


def test_a_users_judge_takes_precedence(kitchen: Path) -> None:
    before = load_domain(kitchen).fingerprint
    write(kitchen / "judges" / "robogaze.yaml", "schema_version: 1\n")
    assert load_domain(kitchen).fingerprint != before


def test_a_folder_may_add_to_a_built_in_domain(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    robot = domain_folders()["robot"]
    write(folder / "domain.yaml", (robot / "domain.yaml").read_text(encoding="utf-8"))
    write(folder / "pipelines" / "quick.yaml", "description: One look.\nstages:\n  - direct\n  - compose\n")
    write(folder / "pipelines" / "full.yaml", "description: Mine.\nstages:\n  - direct\n  - compose\n")
    mine, theirs = load_domain(folder), load_domain("robot")
    assert mine.types == theirs.types
    assert set(mine.pipelines) == {*theirs.pipelines, "quick"}
    assert mine.pipelines["full"].description == "Mine."
    assert mine.fingerprint != theirs.fingerprint


# The fingerprint.


def test_the_fingerprint_does_not_depend_on_where_the_folder_lies(kitchen: Path, tmp_path: Path) -> None:
    before = load_domain(kitchen).fingerprint
    assert load_domain(move(kitchen, tmp_path / "far" / "away")).fingerprint == before


def test_the_fingerprint_does_not_depend_on_how_the_folder_is_named(
    kitchen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load_domain(kitchen).fingerprint
    monkeypatch.chdir(kitchen.parent)
    assert load_domain("./kitchen").fingerprint == before
    monkeypatch.chdir(kitchen)
    assert load_domain(".").fingerprint == before


def test_the_fingerprint_changes_with_every_file_of_the_bundle(kitchen: Path) -> None:
    write(kitchen / "prompts" / "vanilla.md.j2", "Look well.")
    write(kitchen / "judges" / "robogaze.yaml", "schema_version: 1\n")
    write(kitchen / "examples" / "cup.txt", "An example.")
    seen = {load_domain(kitchen).fingerprint}
    files = sorted(path for path in kitchen.rglob("*") if path.is_file())
    assert len(files) == 7
    for path in files:
        path.write_bytes(path.read_bytes() + b"\n")
        seen.add(load_domain(kitchen).fingerprint)
    assert len(seen) == 1 + len(files)


def test_the_fingerprint_changes_when_a_file_comes_goes_or_is_renamed(kitchen: Path) -> None:
    fingerprints = [load_domain(kitchen).fingerprint]
    notes = write(kitchen / "notes.md", "Notes.")
    fingerprints.append(load_domain(kitchen).fingerprint)
    renamed = notes.rename(kitchen / "remarks.md")
    fingerprints.append(load_domain(kitchen).fingerprint)
    assert len(set(fingerprints)) == 3
    renamed.unlink()
    assert load_domain(kitchen).fingerprint == fingerprints[0]


def test_hidden_files_and_folders_are_no_part_of_the_bundle(kitchen: Path) -> None:
    before = load_domain(kitchen).fingerprint
    write(kitchen / ".notes.swp", "x")
    write(kitchen / ".git" / "HEAD", "ref: refs/heads/main")
    assert load_domain(kitchen).fingerprint == before


def test_a_domain_that_is_read_twice_is_the_same(built_in: Domain) -> None:
    again = load_domain(built_in.id)
    assert again.fingerprint == built_in.fingerprint
    assert again.taxonomy == built_in.taxonomy


# What is said when files do not fit.

_TAXONOMY = "taxonomy.yaml"
_DOMAIN = "domain.yaml"
_CUES = "cues:\n          - The place where it stood shows bare background."
_PIPELINE = "pipelines/specialists.yaml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (_DOMAIN, "version: 0.1.0", "verison: 0.1.0", "verison: unknown key"),
        (_DOMAIN, "version: 0.1.0", "version: 0.1", "version: Input should be a valid string"),
        (_DOMAIN, "version: 0.1.0", "version: 0.1.0\nversion: 0.2.0", "version: this key is repeated"),
        (_DOMAIN, "schema_version: 1", "schema_version: 2", "schema_version: Input should be 1"),
        (_DOMAIN, 'id: "kitchen"', 'id: "My Kitchen"', "id: String should match pattern"),
        (
            _DOMAIN,
            "default_pipeline: vanilla",
            "default_pipeline: vanila",
            "no pipeline 'vanila'; the pipelines are: special",
        ),
        (
            _DOMAIN,
            "judge: robogaze",
            "pipeline_without_model: x\njudge: robogaze",
            "no pipeline 'x'; the pipelines are: special",
        ),
        (_DOMAIN, "judge: robogaze", "judge: gazerobo", "there is no judge 'gazerobo'; the judges are: "),
        (_TAXONOMY, "code: C", "code: C\n    colour: red", "dimensions.0.colour: unknown key"),
        (_TAXONOMY, "id: disappearance", "id: Dis appearance", "dimensions.0.types.0.id: String should match"),
        (_TAXONOMY, "severity: 4", "severity: 6", "dimensions.0.types.0.severity: Input should be less than or equal"),
        (_TAXONOMY, "# needs: [instruction]", "needs: [luck] #", "dimensions.0.needs.0: Input should be 'instruction'"),
        (_TAXONOMY, _CUES, "cues: []", "dimensions.0.types.0.cues: List should have at least 1 item"),
        (_TAXONOMY, "covers: appearance", "covers: all #", "dimensions.0.types.0.span.covers: Input should be"),
        (_TAXONOMY, "          ends: the", "          # ends: the", "dimensions.0.types.0.span.ends: Field required"),
        (_TAXONOMY, "level: 2, name: minor", "level: 3, name: minor", "the rubric needs the levels 1, 2, 3, 4 and 5"),
        (_PIPELINE, "description: A", "descripton: A", "descripton: unknown key"),
        (_PIPELINE, "- verify", "- verify: 3", "a stage must be a name, or a name with its parameters"),
        (_PIPELINE, "- verify", "- {verify: {}, vote: {}}", "a stage must be a name, or a name with its parameters"),
        (_PIPELINE, "- verify", "- [verify]", "a stage must be a name, or a name with its parameters"),
        (_PIPELINE, "- verify", "- verify: {on: 3}", "a stage must be a name, or a name with its parameters"),
        (_PIPELINE, "- verify", "- verify: {max_rounds: 1, max_rounds: 2}", "max_rounds: this key is repeated"),
        (_PIPELINE, "- verify", "- verify: {rounds: 1", "not valid YAML"),
    ],
)
def test_an_error_names_file_and_line(kitchen: Path, file: str, old: str, new: str, message: str) -> None:
    change(kitchen / file, old, new)
    with pytest.raises(DomainError) as caught:
        load_domain(kitchen)
    error = caught.value
    assert message in str(error)
    assert error.path == kitchen / file
    assert error.line is not None
    assert str(error).startswith(f"{kitchen / file}:{error.line}: ")


@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        (_DOMAIN, "version: 0.1.0", "version: 0.1.0\nversion: 0.2.0", "version: 0.2.0"),
        (_DOMAIN, "judge: robogaze", "judge: gazerobo", "judge: gazerobo"),
        (_DOMAIN, "version: 0.1.0", "verison: 0.1.0", "verison"),
        (_DOMAIN, "default_pipeline: vanilla", "default_pipeline: vanila", "default_pipeline"),
        (_TAXONOMY, "code: C", "code: C\n    colour: red", "colour: red"),
        (_TAXONOMY, "severity: 4", "severity: 6", "severity: 6"),
        (_TAXONOMY, "definition: Something visible", "definiton: Something visible", "definiton"),
        (_TAXONOMY, "covers: appearance", "covers: all #", "covers: all"),
        (_TAXONOMY, "level: 2, name: minor", "level: 3, name: minor", "severity:"),
        (_TAXONOMY, "severity: 4", "confused_with: [{type: x, tell: y}]\n        severity: 4", "type: x"),
        (_PIPELINE, "- verify", "- verify: 3", "- verify: 3"),
        (_PIPELINE, "- verify", "- verify: {a: 1,\n      a: 2}", "a: 2"),
    ],
)
def test_the_line_of_a_fault_is_its_own(kitchen: Path, file: str, old: str, new: str, place: str) -> None:
    change(kitchen / file, old, new)
    with pytest.raises(DomainError) as caught:
        load_domain(kitchen)
    assert caught.value.line == line_of(kitchen / file, place)


def test_a_type_without_a_definition_is_refused(kitchen: Path) -> None:
    change(kitchen / _TAXONOMY, "        definition: Something visible", "        # Something visible")
    with pytest.raises(DomainError, match=r"dimensions\.0\.types\.0\.definition: Field required"):
        load_domain(kitchen)


def test_a_missing_level_of_severity_is_refused(kitchen: Path) -> None:
    change(kitchen / _TAXONOMY, "  - {level: 5, name: catastrophic", "  # - {level: 5, name: catastrophic")
    with pytest.raises(DomainError, match=r"severity: the rubric needs the levels 1, 2, 3, 4 and 5, in order"):
        load_domain(kitchen)


def test_one_wrong_value_is_one_fault(kitchen: Path) -> None:
    change(kitchen / _TAXONOMY, "severity: 4", "severity: 6")
    with pytest.raises(DomainError) as caught:
        load_domain(kitchen)
    assert "more)" not in str(caught.value)


@pytest.mark.parametrize("what", ["dimension", "type"])
def test_what_is_listed_twice_is_refused_where_it_stands_again(kitchen: Path, what: str) -> None:
    path = kitchen / _TAXONOMY
    dimension, end = "  - id: consistency\n", "        severity: 4\n"
    text = path.read_text(encoding="utf-8")
    block = text[text.index(dimension if what == "dimension" else "      - id: disappearance") :]
    change(path, end, end + block.replace("severity: 4", "severity: 3"))
    with pytest.raises(DomainError, match="is listed twice") as caught:
        load_domain(kitchen)
    first = block.splitlines()[0]
    lines = [number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if line == first]
    assert caught.value.line == lines[1]


@pytest.mark.parametrize("file", [_DOMAIN, _TAXONOMY])
def test_a_missing_file_is_named_where_the_user_would_put_it(kitchen: Path, file: str) -> None:
    (kitchen / file).unlink()
    if file == _DOMAIN:
        with pytest.raises(InputError, match=r"nor a folder with a domain\.yaml"):
            load_domain(kitchen)
        return
    with pytest.raises(DomainError, match="this file is missing") as caught:
        load_domain(kitchen)
    assert caught.value.path == kitchen / file


@pytest.mark.parametrize(
    "content", ["", "- a\n- b\n", "just words\n", "description: A.\n", "description: A.\nstages: []\n"]
)
def test_a_pipeline_that_is_none_is_refused(kitchen: Path, content: str) -> None:
    write(kitchen / "pipelines" / "odd.yaml", content)
    with pytest.raises(DomainError, match=r"odd\.yaml.*a pipeline must have 'description' and a list of 'stages'"):
        load_domain(kitchen)


@pytest.mark.parametrize("file", [_DOMAIN, _TAXONOMY])
@pytest.mark.parametrize("content", ["", "- a\n", "just words\n"])
def test_a_file_that_is_no_mapping_is_refused(kitchen: Path, file: str, content: str) -> None:
    write(kitchen / file, content)
    with pytest.raises(DomainError, match=f"{file}.*Input should be a valid dictionary"):
        load_domain(kitchen)


def test_a_pipeline_keeps_the_lines_of_its_stages(kitchen: Path) -> None:
    path = write(
        kitchen / "pipelines" / "lined.yaml",
        "description: A.\nstages:\n  - observe:\n      window_s: 2\n      rules:\n        - {a: 1}\n  - compose\n",
    )
    observe, compose = load_domain(kitchen).pipelines["lined"].stages
    assert (observe.name, observe.parameters, observe.line) == ("observe", {"window_s": 2, "rules": [{"a": 1}]}, 3)
    assert observe.lines["window_s",] == 4
    assert observe.lines["rules", 0, "a"] == 6
    assert (compose.name, compose.parameters, compose.line) == ("compose", {}, 7)
    assert load_domain(kitchen).pipelines["lined"].path == path
