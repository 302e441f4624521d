"""The data set: complete, the same for the same seed, and taken up where it was left."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="needs the simulator: pip install 'robogaze[forge]'")

from robogaze.core.report import Report
from robogaze.datasets import find_entries
from robogaze.domains import Domain
from robogaze.errors import InputError, RunError
from robogaze.forge.simulate import folder
from robogaze.forge.simulate.folder import Simulated, SimulationPlan, chosen_types, simulate_clips
from robogaze.forge.simulate.make import ClipOrder, GivenUp, Workshop
from robogaze.forge.simulate.recipe import Doing, SimulatedFault, SimulationConfig
from robogaze.media.decode import read_frames

TYPES = ("object_teleportation",)


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, domain: Domain, recipe: SimulationConfig, player: object
) -> Simulated:
    """A glitchy clip with its twin, and a clean one; made by two processes."""
    shop = Workshop(tmp_path_factory.mktemp("made"), domain, only_placing(recipe), seed=3, size=(96, 64))
    return simulate_clips(SimulationPlan(shop, clips=2, types=TYPES, clean_share=0.5, twins=True), jobs=2)


def only_placing(recipe: SimulationConfig) -> SimulationConfig:
    """Short clips of one kind."""
    return recipe.with_(tasks={"place": recipe.tasks["place"]}, clean=(Doing(make="plain"),), second_share=0.0)


def read(folder: Path) -> list[Report]:
    lines = (folder / "annotations.jsonl").read_text().splitlines()
    return [Report.model_validate_json(line) for line in lines]


def test_a_data_set_holds_its_clips_and_what_is_true_of_them(made: Simulated, domain: Domain) -> None:
    folder = made.plan.workshop.folder
    reports = read(folder)
    assert [report.clip.id for report in reports] == [entry.clip_id for entry in find_entries([folder / "clips.jsonl"])]
    assert sorted(report.clean for report in reports) == [False, True, True]
    (event,) = next(report.events for report in reports if not report.clean)
    assert (event.type, event.dimension) == ("object_teleportation", domain.dimension_of["object_teleportation"])
    assert event.severity in (4, 5)
    assert made.as_json()["types"] == {"object_teleportation": 1}
    assert made.as_json()["clean"] == 1


def test_a_span_is_that_of_the_frames_that_differ(made: Simulated) -> None:
    one = next(one for one in made.made if one.truth["type"])
    clip, (event,) = one.reports[0].clip, one.reports[0].events
    (first, last), *_ = one.truth["faults"][0]["frames"]
    assert event.onset_s == clip.frame_times_s[first]
    assert event.spans[0].end == pytest.approx(last / clip.fps)
    assert first in event.evidence[0].frames


def test_the_twin_shows_the_same_up_to_the_onset_and_is_clean(made: Simulated) -> None:
    one = next(one for one in made.made if one.truth["type"])
    glitchy, twin = one.reports
    assert twin.clean
    assert twin.clip.instruction == glitchy.clip.instruction
    assert glitchy.provenance.media["planted"]["untouched"] == twin.clip.id
    first = one.truth["faults"][0]["frames"][0][0]
    shown, clean = (
        [frame.image for frame in read_frames(made.plan.workshop.folder / report.clip.uri)] for report in one.reports
    )
    assert all(np.array_equal(a, b) for a, b in zip(shown[:first], clean[:first], strict=True))
    assert not np.array_equal(shown[first], clean[first])


def test_every_clean_clip_was_audited(made: Simulated) -> None:
    for one in made.made:
        assert one.truth["audit"]["findings"] == []
        assert one.truth["audit"]["depth_mm"] > 0


def test_a_clip_that_is_done_is_left_alone_and_a_lost_one_comes_back_the_same(made: Simulated) -> None:
    folder = made.plan.workshop.folder
    annotations, truth = ((folder / name).read_bytes() for name in ("annotations.jsonl", "truth.jsonl"))
    lost = folder / next(one.reports[0].clip.uri for one in made.made if one.truth["type"] is None)
    kept = folder / next(one.reports[0].clip.uri for one in made.made if one.truth["type"])
    written, content = kept.stat().st_mtime_ns, lost.read_bytes()
    lost.unlink()
    simulate_clips(made.plan)
    assert kept.stat().st_mtime_ns == written
    assert lost.read_bytes() == content
    assert (folder / "annotations.jsonl").read_bytes() == annotations
    assert (folder / "truth.jsonl").read_bytes() == truth


def test_a_folder_of_other_settings_is_refused(made: Simulated) -> None:
    with pytest.raises(RunError, match="was simulated with other settings"):
        simulate_clips(replace(made.plan, clips=3))


def test_types_are_made_equally_often_and_so_are_their_faults(workshop: Workshop, recipe: SimulationConfig) -> None:
    plan = SimulationPlan(workshop, clips=200, types=recipe.types, clean_share=0.4)
    orders = plan.orders()
    faults = [order.doing for order in orders if isinstance(order.doing, SimulatedFault)]
    types = Counter(fault.type for fault in faults)
    assert len(faults) == 120
    assert set(types.values()) == {4}
    assert {fault.make for fault in faults} == {fault.make for fault in recipe.faults}
    assert {order.doing for order in orders} - set(faults) == set(recipe.clean)


def test_the_order_of_clips_comes_from_the_seed_and_tells_nothing(workshop: Workshop, recipe: SimulationConfig) -> None:
    plan = SimulationPlan(workshop, clips=60, types=recipe.types, clean_share=0.3)
    other = SimulationPlan(replace(workshop, seed=4), clips=60, types=recipe.types, clean_share=0.3)
    assert plan.orders() == plan.orders()
    assert plan.orders() != other.orders()
    clean = [order.number for order in plan.orders() if not isinstance(order.doing, SimulatedFault)]
    assert clean != list(range(len(clean)))


def test_a_type_that_cannot_be_made_is_told_the_ones_that_can(recipe: SimulationConfig) -> None:
    with pytest.raises(InputError, match=r"'wobble' cannot be simulated in place, .*; these types can: task_inc"):
        chosen_types(recipe, ["wobble"])
    assert chosen_types(recipe, []) == recipe.types
    assert chosen_types(recipe, ["blur", "blur"]) == ("blur",)


def test_a_type_that_no_chosen_task_can_hold_is_refused(recipe: SimulationConfig) -> None:
    with pytest.raises(InputError, match="'wrong_action_order' cannot be simulated in open, press; these types can: "):
        chosen_types(recipe.only(["open", "press"]), ["wrong_action_order"])


def test_the_tasks_are_among_the_settings(workshop: Workshop, recipe: SimulationConfig) -> None:
    plan = SimulationPlan(replace(workshop, recipe=recipe.only(["press"])), clips=9, types=("blur",), clean_share=0.5)
    assert plan.settings["tasks"] == ["press"]
    assert {order.doing.tasks for order in plan.orders()} == {()}


def test_when_it_is_left_early_what_waits_is_not_begun(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def keep(shop: Workshop, order: ClipOrder) -> GivenUp:
        begun.append(order.name)
        time.sleep(0.01)
        return GivenUp(order.name, order.doing.make, {})

    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "_keep", keep)
    monkeypatch.setattr(folder, "ProcessPoolExecutor", lambda jobs, mp_context: ThreadPoolExecutor(jobs))
    with pytest.raises(KeyboardInterrupt):
        simulate_clips(SimulationPlan(workshop, clips=200, types=TYPES, clean_share=0.5), jobs=2, on_done=stop)
    assert 0 < len(begun) < 100
