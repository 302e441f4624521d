"""Labels of other tools, mapped to a taxonomy."""

import shutil
from pathlib import Path

import pytest
from domains.folders import line_of, make_folder
from making import coverage

from formats.samples import demo_clip, demo_event, make_event, report, write
from robogaze.datasets.formats.label_mapping import Labels, load_labels
from robogaze.datasets.formats.read import read_annotations
from robogaze.domains import domain_folders, load_domain
from robogaze.errors import DomainError, InputError

ALIASES = """schema_version: 1
types:
  {type}: [Goes / through, "ghost"]
dimensions:
  {dimension}:
    - matters
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    """A user's own domain, with aliases."""
    folder = make_folder(tmp_path)
    domain = load_domain(folder)
    kind = next(iter(domain.types))
    text = ALIASES.format(type=kind, dimension=domain.dimension_of[kind])
    write(folder / "aliases.yaml", text)
    return folder


@pytest.fixture
def labels(kitchen: Path) -> Labels:
    return load_labels(kitchen)


@pytest.fixture
def kind(kitchen: Path) -> str:
    return next(iter(load_domain(kitchen).types))


@pytest.fixture
def dimension(kitchen: Path, kind: str) -> str:
    return load_domain(kitchen).dimension_of[kind]


def clip_with(tmp_path: Path, *events: dict[str, object]) -> Path:
    return write(tmp_path / "clips.json", demo_clip("cup", *events))


# The taxonomy's own words.


def test_taxonomy_words_need_no_alias_and_no_warning(
    tmp_path: Path, kitchen: Path, labels: Labels, kind: str, dimension: str
) -> None:
    domain = load_domain(kitchen)
    own = [
        (kind, dimension),
        (domain.types[kind].name.upper(), domain.dimensions[dimension].name),
        (kind.replace("_", "-"), domain.dimensions[dimension].code.lower()),
    ]
    events = [demo_event(event_id=f"{n}", type=label, dimension=of) for n, (label, of) in enumerate(own)]
    read = read_annotations(clip_with(tmp_path, *events), labels=labels)
    assert [(event.type, event.dimension) for event in read.annotations[0].findings] == [(kind, dimension)] * 3
    assert read.warnings == ()


def test_missing_dimension_follows_from_the_type(tmp_path: Path, labels: Labels, kind: str, dimension: str) -> None:
    read = read_annotations(clip_with(tmp_path, demo_event(type=kind, dimension=None)), labels=labels)
    assert read.annotations[0].findings[0].dimension == dimension


def test_given_dimension_overrides_that_of_the_type_and_is_counted(kitchen: Path, tmp_path: Path) -> None:
    domain = load_domain("robot")
    kind = next(iter(domain.types))
    other = next(name for name in domain.dimensions if name != domain.dimension_of[kind])
    path = clip_with(tmp_path, demo_event(type=kind, dimension=other))
    read = read_annotations(path, labels=load_labels("robot"))
    event = read.annotations[0].findings[0]
    assert (event.type, event.dimension) == (kind, other)
    own = domain.dimension_of[kind]
    assert read.warnings == (f"1 event of the type {kind} with the dimension {other}; its own is {own}",)


def test_ambiguous_label_is_a_type_before_a_dimension(
    tmp_path: Path, labels: Labels, kind: str, dimension: str
) -> None:
    results = [{"label": label, "segment": [0, 1]} for label in (kind, dimension, "matters", "Ghost")]
    path = write(tmp_path / "labels.json", {"results": {"cup": results}})
    read = read_annotations(path, labels=labels)
    found = [(event.type, event.dimension) for event in read.annotations[0].findings]
    assert found == [(kind, dimension), (None, dimension), (None, dimension), (kind, dimension)]


# Aliases.


def test_labels_read_through_an_alias_are_counted(tmp_path: Path, labels: Labels, kind: str, dimension: str) -> None:
    events = [
        demo_event(event_id="1", type="goes through", dimension="Matters"),
        demo_event(event_id="2", type="Goes / through", dimension=dimension),
        demo_event(event_id="3", type="Goes / through", dimension=dimension),
    ]
    read = read_annotations(clip_with(tmp_path, *events), labels=labels)
    assert {(event.type, event.dimension) for event in read.annotations[0].findings} == {(kind, dimension)}
    assert read.warnings == (
        f"1 label 'goes through' read as {kind}",
        f"1 label 'Matters' read as {dimension}",
        f"2 labels 'Goes / through' read as {kind}",
    )


def test_domain_without_aliases_knows_only_its_own_words(kitchen: Path, kind: str) -> None:
    (kitchen / "aliases.yaml").unlink()
    labels = load_labels(kitchen)
    assert labels.types.find(kind) == (kind, False)
    assert labels.types.find("ghost") is None
    assert labels.table == kitchen / "aliases.yaml"


@pytest.mark.parametrize("name", sorted(domain_folders()))
def test_aliases_of_built_in_domains_do_not_repeat_their_own_words(name: str) -> None:
    labels = load_labels(name)
    assert labels.domain == name
    for words in (labels.types, labels.dimensions):
        assert not words.own.keys() & words.aliases.keys()


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("ghost", "!!", "!!", "'!!' must contain a letter or a digit"),
        ("dimensions:", "dimensions:\n  nothing: [x]", "nothing", "'nothing' is not in the taxonomy"),
        ("types:", "types:\n  nothing: []", "nothing", "'nothing' is not in the taxonomy"),
        ("types:", "typs:", "typs", "unknown key"),
    ],
)
def test_invalid_alias_is_refused_with_its_line(kitchen: Path, old: str, new: str, line: str, why: str) -> None:
    table = kitchen / "aliases.yaml"
    table.write_text(table.read_text().replace(old, new, 1))
    with pytest.raises(DomainError, match=why) as refused:
        load_labels(kitchen)
    assert (refused.value.path, refused.value.line) == (table, line_of(table, line))


def test_alias_with_two_meanings_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(domain_folders()["robot"], tmp_path / "robot")
    first, second = list(load_domain(folder).types)[:2]
    write(folder / "aliases.yaml", f"schema_version: 1\ntypes:\n  {first}: [ghost]\n  {second}: [Ghost!]\n")
    with pytest.raises(DomainError, match=f"aliases.yaml:4: 'Ghost!' means both {first} and {second}"):
        load_labels(folder)


# Labels outside the taxonomy.


def test_unknown_label_is_refused_with_a_way_out(tmp_path: Path, labels: Labels, kind: str) -> None:
    path = clip_with(tmp_path, demo_event(type=kind, dimension="matters"), demo_event(event_id="2", type="Odd"))
    with pytest.raises(InputError) as refused:
        read_annotations(path, labels=labels)
    at = line_of(path, '"Odd"')
    assert str(refused.value) == (
        f"{path}:{at}: events.1.type: 'Odd' is not a type of kitchen; add the label as an alias to {labels.table}; "
        "use --lenient to skip what does not fit"
    )


def test_lenient_reading_keeps_an_unknown_label_with_a_warning(tmp_path: Path, labels: Labels, kind: str) -> None:
    path = clip_with(tmp_path, demo_event(type="Odd", dimension="matters"), demo_event(event_id="2", dimension="Odd"))
    read = read_annotations(path, labels=labels, lenient=True)
    first, second = read.annotations[0].findings
    assert (first.type, second.dimension) == ("Odd", "Odd")
    assert "2 labels 'Odd' outside the taxonomy (kept as written)" in read.warnings
    assert read.skipped == ()


def test_labels_of_reports_are_checked(tmp_path: Path, labels: Labels, kind: str, dimension: str) -> None:
    good = make_event(type=kind, dimension=dimension)
    covered = {"coverage": coverage(dimension)}
    path = write(tmp_path / "report.json", report("cup", good, **covered))
    assert read_annotations(path, labels=labels).annotations[0].findings[0].type == kind
    write(path, report("cup", good, make_event(id="E2", type="odd", dimension=dimension), **covered))
    with pytest.raises(InputError, match=r"events.1.type: 'odd' is not a type of kitchen"):
        read_annotations(path, labels=labels)


def test_dimensions_of_coverage_are_checked(tmp_path: Path, labels: Labels) -> None:
    path = write(tmp_path / "report.json", report("cup", coverage=coverage("weather")))
    with pytest.raises(InputError, match=r"coverage: 'weather' is not a dimension of kitchen"):
        read_annotations(path, labels=labels)


def test_dimensions_missing_from_coverage_are_not_examined(tmp_path: Path, kitchen: Path, labels: Labels) -> None:
    first, *others = load_domain(kitchen).dimensions
    path = tmp_path / "events.csv"
    path.write_text(f"clip_id,coverage\ncup,{first}=examined\n")
    (annotation,) = read_annotations(path, labels=labels).annotations
    assert annotation.coverage == {**dict.fromkeys(others, "not_examined"), first: "examined"}
    assert annotation.clean is (not others)
    path.write_text("clip_id,coverage\ncup,weather=examined\n")
    with pytest.raises(InputError, match=r"coverage: 'weather' is not a dimension of kitchen"):
        read_annotations(path, labels=labels)


def test_without_a_taxonomy_labels_are_kept(tmp_path: Path) -> None:
    read = read_annotations(clip_with(tmp_path, demo_event(type="Odd", dimension="Strange")))
    event = read.annotations[0].findings[0]
    assert (event.type, event.dimension) == ("Odd", "Strange")
    assert read.warnings == ()


def test_misspelt_type_gets_a_suggestion() -> None:
    labels = load_labels("robot")
    assert labels.types.close_to("object floatng") == "object_floating"
    assert labels.types.close_to("something else") is None
