"""The page of a comparison: verdict, leaderboard, pairs, what to trust, rates, trend, and the clips that changed.

`templates/comparison.html.j2` lays it out. It is made of what a comparison leaves in its folder (`comparison.json`, and
`page.json` for the clips), so that it can be written again at any time.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

from markupsafe import Markup

from robogaze.comparison.clip_measures import CLEAN, MEASURES
from robogaze.comparison.trend import step_of
from robogaze.core.scores import Estimate
from robogaze.domains import Domain
from robogaze.reporting.bundles import bundles
from robogaze.reporting.compared import ComparisonPageData
from robogaze.reporting.comparison import scope_sentence
from robogaze.reporting.comparison_validity_checks import Json, bounds_of, comparison_checks
from robogaze.reporting.document import document, vocabulary
from robogaze.reporting.figures import course, strip
from robogaze.reporting.result_tables import written

STYLES = ("base", "run", "list", "severity", "clip", "player", "timeline", "record", "board", "pair", "media")
SCRIPTS = (
    "dom", "format", "data", "address", "filter", "rows", "keys", "desk", "places", "loop", "speed", "timeline",
    "claims", "screen", "clock", "lanes", "flips", "pair", "compare",
)  # fmt: skip

_MEASURES = {
    "clean_rate": "clean rate",
    "nothing_found_rate": "nothing-found rate",
    "events_per_clip": "events a clip",
    "load_per_clip": "load a clip",
    "load_per_minute": "load a minute",
}

_KINDS = ("new", "worse", "changed", "better", "fixed")


def comparison_files(
    told: Json, shown: ComparisonPageData, videos: Mapping[str, str | None], domain: Domain | None, title: str
) -> Iterator[tuple[str, str]]:
    """Names and texts of the files of the page, `index.html` the last of them.

    `told` is what `comparison_json` gives; `videos` are sources by `clip_key`. Without a `domain` types and dimensions
    go by their ids.
    """
    places: dict[str, str | None] = {}
    in_page: Mapping[str, str] | None = None
    for bundle in bundles(_clips(shown, videos)):
        places |= dict.fromkeys(bundle.data, bundle.file)
        if bundle.file is None:
            in_page = bundle.data
        else:
            yield bundle.file, bundle.text
    flips = _flips(told, places)
    page = document(
        "comparison.html.j2",
        title,
        STYLES,
        SCRIPTS,
        {"vocabulary": vocabulary(domain), "flips": {"pairs": _pairs_of(told), "flips": flips}},
        in_page,
        told=told,
        scope_sentence=scope_sentence(told["rate"]["dimensions"]),
        board=_board(told, shown),
        bands=[band for band in told["bands"] if len(band) > 1],
        pairs=[_pair(pair, _names(domain)) for pair in told["pairs"]],
        checks=comparison_checks(told, shown),
        corrected=_corrected(told["runs"]),
        rates=[_rates(told, kind, names) for kind, names in _names(domain).items()],
        trend=_trend(told),
        kinds=[kind for kind in _KINDS if any(flip["kind"] == kind for flip in flips)],
        types=_types(flips, _names(domain)["per_type"]),
        severities=sorted({one["severity"] for flip in flips for one in _changed(flip) if one["severity"]})[::-1],
    )
    yield "index.html", page


def clip_key(place: int, clip_id: str) -> str:
    """What a clip of the run at a place goes by in the page."""
    return f"{place}/{clip_id}"


def _clips(shown: ComparisonPageData, videos: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    for place, run in enumerate(shown.runs):
        for clip_id, clip in run.clips.items():
            key = clip_key(place, clip_id)
            yield key, clip.with_(video=videos.get(key)).model_dump_json()


def _pairs_of(told: Json) -> list[list[str]]:
    """The runs of each pair, the one before first."""
    return [[pair["second"], pair["first"]] for pair in told["pairs"]]


def _flips(told: Json, places: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The changes of all pairs, what deserves a look first; each with where its two clips lie."""
    at = {run["name"]: place for place, run in enumerate(told["runs"])}
    found = []
    for number, pair in enumerate(told["pairs"]):
        for flip in pair["flips"]["clips"]:
            keys = clip_key(at[pair["second"]], flip["before"]), clip_key(at[pair["first"]], flip["after"])
            found.append({**flip, "pair": number, "keys": keys, "files": [places[key] for key in keys]})
    return sorted(found, key=lambda one: (-_worst(one["gained"]), one["load_before"] - one["load_after"]))


def _worst(types: Sequence[Json]) -> int:
    return max((int(one["severity"] or 0) for one in types), default=0)


def _changed(flip: Json) -> list[Json]:
    return [*flip["gained"], *flip["lost"]]


def _types(flips: Sequence[Json], names: Mapping[str, str]) -> dict[str, str]:
    """The types that came or went, by name."""
    found = {one["type"] for flip in flips for one in _changed(flip)}
    return dict(sorted(((kind, names.get(kind, kind)) for kind in found), key=lambda item: item[1]))


def _names(domain: Domain | None) -> dict[str, dict[str, str]]:
    """The names of dimensions and types, by where their rates stand."""
    if domain is None:
        return {"per_dimension": {}, "per_type": {}}
    return {
        "per_dimension": {one.id: one.name for one in domain.dimensions.values()},
        "per_type": {one.id: one.name for one in domain.types.values()},
    }


def _estimate(told: Json) -> Estimate:
    """An estimate from JSON, where null is undefined."""
    value, low, high = (nan if told[name] is None else float(told[name]) for name in ("value", "low", "high"))
    return Estimate(value, low, high, told["n"], told.get("why", ""))


def _drawn(told: Json, low: float, high: float, bounds: Json | None = None) -> dict[str, Any]:
    """An estimate as a cell: drawn, and in numbers."""
    edges = None if bounds is None or bounds["worst"] is None else (bounds["worst"], bounds["best"])
    return {"strip": Markup(strip(_estimate(told), low, high, edges)), "said": written(_estimate(told))}


def _board(told: Json, shown: ComparisonPageData) -> list[dict[str, Any]]:
    """The leaderboard's rows, the best run first."""
    runs = {run["name"]: run for run in told["runs"]}
    pages = {run.name: run.page for run in shown.runs}
    measures = [told["rate"]["key"], *(name for name in MEASURES if name != CLEAN)]
    tops = {name: _highest([run[name] for run in told["runs"]]) for name in measures}
    rows, above = [], 0
    for name in told["order"]:
        run = runs[name]
        rows.append(
            {
                "name": name,
                "page": pages.get(name),
                "band": run["band"],
                "new_band": run["band"] != above,
                "clips": run["clips"],
                "rank": written(_estimate(run["rank"])),
                "cost": written(_estimate(run["cost_per_clip_usd"])),
                "measures": [
                    _drawn(run[one], 0.0, tops[one], run["rate_bounds"] if one == told["rate"]["key"] else None)
                    for one in measures
                ],
            }
        )
        above = run["band"]
    return rows


def _highest(told: Sequence[Json]) -> float:
    """Where the axis of some estimates ends: 1 for shares, or beyond the highest."""
    return max([1.0, *(float(value) for one in told for value in (one["value"], one["high"]) if value is not None)])


def _pair(pair: Json, names: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """A pair with its differences drawn; those in dimensions and types by p, the smallest first."""
    gaps = [
        (names[kind].get(name, name), gap) for kind in ("per_dimension", "per_type") for name, gap in pair[kind].items()
    ]
    gaps.sort(key=lambda item: (inf if item[1]["p"] is None else item[1]["p"], item[0]))
    edge = _edge([gap for _, gap in gaps])
    return {
        "first": pair["first"],
        "second": pair["second"],
        "verdict": pair["verdict"],
        "bounds": bounds_of(pair),
        "flips": {kind: pair["flips"][kind] for kind in (*_KINDS, "same", "unknown")},
        # Measures have units of their own; shares of clips are drawn on one axis.
        "measures": [_gap(_MEASURES.get(name, name), gap, _edge([gap])) for name, gap in pair["measures"].items()],
        "in_what": [_gap(name, gap, edge) for name, gap in gaps],
    }


def _gap(name: str, gap: Json, edge: float) -> dict[str, Any]:
    numbers = [nan if gap[key] is None else float(gap[key]) for key in ("p", "p_holm", "p_fdr", "smallest_shown")]
    drawn = _drawn(gap["difference"], -edge, edge)
    return {"name": name, "edge": f"{edge:.3g}", "numbers": [written(one) for one in numbers], **drawn}


def _edge(gaps: Sequence[Json]) -> float:
    """How far an axis around zero reaches for all of some differences."""
    differences = [_estimate(gap["difference"]) for gap in gaps]
    ends = [abs(value) for one in differences for value in (one.value, one.low, one.high) if not isnan(value)]
    far = max(ends, default=0.0)
    return next((edge for edge in (0.1, 0.25, 0.5, 1.0) if far <= edge), far)


def _corrected(runs: Sequence[Json]) -> list[dict[str, Any]]:
    """Of every run, what the judge says beside what is left when its errors are taken off."""
    return [
        {"run": run["name"], "what": what, "cells": [_drawn(one, 0.0, _highest([one])) for one in both.values()]}
        for run in runs
        for what, both in run.get("calibrated", {}).items()
        if what != "labels"
    ]


def _rates(told: Json, kind: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Shares of clips with an event, a row for each dimension or type and a column for each run."""
    runs = {run["name"]: run[kind] for run in told["runs"]}
    rows = [(names.get(key, key), [runs[run][key] for run in told["order"]]) for key in told["runs"][0][kind]]
    values = [value for _, cells in rows for one in cells for value in (one["value"], one["high"]) if value is not None]
    top = min(1.0, max([0.1, *values]))
    return {
        "kind": kind.removeprefix("per_"),
        "runs": told["order"],
        "top": f"{top:.0%}",
        "rows": [(name, [_drawn(one, 0.0, top) for one in cells]) for name, cells in rows],
    }


def _trend(told: Json) -> dict[str, Any] | None:
    """The measures over the steps, drawn, and their slopes; None without a trend."""
    if told["trend"] is None:
        return None
    steps = {run["name"]: step_of(run["name"]) or 0 for run in told["runs"]}
    figures = [
        Markup(course([(steps[run["name"]], _estimate(run[one])) for run in told["runs"]], _MEASURES.get(one, one)))
        for one in told["trend"]["per_1000_steps"]
    ]
    slopes = {
        _MEASURES.get(name, name): written(_estimate(one)) for name, one in told["trend"]["per_1000_steps"].items()
    }
    return {"figures": figures, "slopes": slopes, "prompts": told["trend"]["prompts"]}
