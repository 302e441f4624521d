"""Bootstrap over clips: resamples drawn within strata, and kept as sums.

Clips generated from the same prompt are not independent: with `units` they are drawn together, and their rows are
summed first. By default each clip is a unit.

Each clip is represented by a row of numbers. A score is a function of the column totals over clips: a ratio of two
totals, or a mean (the total of the values over their number; see `mean_rows` and `mean`). A resample is a row of counts
that says how often each clip was drawn, so one matrix product gives the totals of all resamples for all systems.
Systems share the resamples, so their differences are paired. A score that is averaged over data sets is also a function
of sums, if each data set has its own columns. These columns are 0 for the clips of the other data sets.

Resamples are drawn by position. The caller sorts the clips by id first, so that the same seed gives the same bytes. If
the clips come in another order, other clips are drawn, as with another seed; the sums over all clips stay the same to
the last bit.

Memory holds the table, the sums (systems x resamples x columns), and the counts of one block of resamples. A block (see
BLOCK) takes about 70 MB for any number of clips.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCK = 2_000_000
"""The number of counts in memory at a time."""


@dataclass(frozen=True)
class Sums:
    """The sums of the columns of a table, which has the rows `rows` (..., units, columns).

    `total` (..., columns) are the sums over all units, and `drawn` (..., resamples, columns) are the sums over each
    resample. `strata` are the positions of the units of each stratum. `clustered` says whether a unit has several
    clips.
    """

    rows: Floats
    strata: tuple[NDArray[np.intp], ...]
    total: Floats
    drawn: Floats
    clustered: bool = False


@dataclass(frozen=True)
class Resamples:
    """A number (`count`) of resamples. Each resample has `size` units, and every stratum keeps its size.

    The resamples are drawn again from `seed` when they are needed. `of` holds the position of each clip's unit, None if
    each clip is a unit.
    """

    strata: tuple[NDArray[np.intp], ...]
    size: int
    count: int
    seed: int
    of: NDArray[np.intp] | None = None

    def blocks(self, width: int = 0) -> Iterator[Floats]:
        """How often each unit was drawn, some resamples at a time: arrays (resamples, units).

        The number of resamples at a time does not affect the draws. If the caller expands the units to items later,
        `width` is the number of items; with many items, fewer resamples are made at a time.
        """
        rng = np.random.default_rng(self.seed)
        step = max(1, BLOCK // max(1, self.size, width))
        order = np.concatenate(self.strata) if self.strata else np.empty(0, np.intp)
        sizes = np.array([len(members) for members in self.strata], dtype=np.intp)
        stratum = np.repeat(np.arange(len(sizes)), sizes)
        starts = (np.cumsum(sizes) - sizes)[stratum]
        for first in range(0, self.count, step):
            height = min(step, self.count - first)
            picks = (rng.random((height, self.size)) * sizes[stratum]).astype(np.intp)
            picks += starts + np.arange(height)[:, None] * self.size
            counts = np.empty((height, self.size))
            counts[:, order] = np.bincount(picks.ravel(), minlength=picks.size).reshape(picks.shape)
            yield counts

    def sums(self, rows: Floats) -> Sums:
        """The sums of a table (..., clips, columns), both over all clips and over the clips of each resample.

        Raises ValueError if the number of clips in the table is wrong, or if a number in the table is not finite. If
        some clips have no value, use `mean_rows` to compute the mean over the other clips.
        """
        clips = self.size if self.of is None else len(self.of)
        if rows.shape[-2] != clips:
            raise ValueError(f"the resamples are drawn from {clips} clips, but the table has {rows.shape[-2]} rows")
        if not np.isfinite(rows).all():
            raise ValueError("the table holds a number that is not finite")
        total = _total(rows)
        if self.of is not None:
            together = np.zeros((self.size, *rows.shape[:-2], rows.shape[-1]))
            np.add.at(together, self.of, np.moveaxis(rows, -2, 0))
            rows = np.moveaxis(together, 0, -2)
        # One product for all tables of a stack is much faster than one each.
        flat = np.ascontiguousarray(
            np.moveaxis(rows, -2, 0).reshape(self.size, math.prod(rows.shape[:-2]) * rows.shape[-1])
        )
        drawn = np.concatenate([counts @ flat for counts in self.blocks()])
        drawn = np.moveaxis(drawn.reshape(self.count, *rows.shape[:-2], rows.shape[-1]), 0, -2)
        return Sums(rows=rows, strata=self.strata, total=total, drawn=drawn, clustered=self.of is not None)


def draw_resamples(
    strata: Sequence[Hashable], count: int, rng: np.random.Generator, units: Sequence[Hashable] | None = None
) -> Resamples:
    """Resamples of clips; `strata` holds the stratum (data set) of each clip, `units` its unit within the stratum.

    Raises ValueError for a count below 1, and if `units` and `strata` differ in length.
    """
    if count < 1:
        raise ValueError(f"the number of resamples must be 1 or more, not {count}")
    if units is not None and len(units) != len(strata):
        raise ValueError(f"the numbers of units ({len(units)}) and clips ({len(strata)}) differ")
    places: dict[Hashable, int] = {}
    positions: dict[Hashable, list[int]] = {}
    of = []
    for clip, stratum in enumerate(strata):
        unit = (stratum, clip if units is None else units[clip])
        if unit not in places:
            positions.setdefault(stratum, []).append(len(places))
        of.append(places.setdefault(unit, len(places)))
    return Resamples(
        strata=tuple(np.array(members, dtype=np.intp) for members in positions.values()),
        size=len(places),
        count=count,
        seed=int(rng.integers(2**63)),
        of=None if len(places) == len(strata) else np.array(of, dtype=np.intp),
    )


@dataclass(frozen=True)
class Clusters:
    """Resamples for items in clusters: the events of a clip are drawn together.

    `of` holds the position of each item's clip among the resampled clips. Clips without items are drawn, too.
    """

    resamples: Resamples
    of: Sequence[int]

    def drawn(self, rows: Floats) -> Floats:
        """The sums of a table (items, columns) over the items of each resample, as an array (resamples, columns)."""
        clips = self.resamples.size if self.resamples.of is None else len(self.resamples.of)
        together = np.zeros((clips, rows.shape[1]))
        np.add.at(together, np.asarray(self.of, dtype=np.intp), rows)
        return self.resamples.sums(together).drawn

    def blocks(self) -> Iterator[Floats]:
        """How often each item was drawn, some resamples at a time: arrays (resamples, items)."""
        of = np.asarray(self.of, dtype=np.intp)
        of = of if self.resamples.of is None else self.resamples.of[of]
        return (counts[:, of] for counts in self.resamples.blocks(width=len(of)))


def mean_rows(values: Floats) -> Floats:
    """The rows (..., clips, 2) from which `mean` computes the mean of `values` (..., clips); a value is NaN if a clip
    has none.
    """
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=-1)


def mean(sums: Floats) -> Floats:
    """The mean from sums (..., 2) of `mean_rows`: NaN if no clip has a value."""
    return ratio(sums[..., 0], sums[..., 1])


def ratio(part: Floats, whole: Floats) -> Floats:
    """`part` / `whole`, NaN where `whole` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    shares: Floats = np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole != 0)
    return shares


def _total(rows: Floats) -> Floats:
    """The sums over the clips. Columns are sorted first, so the order of the clips does not change any bit of
    the sums.
    """
    total = np.empty((*rows.shape[:-2], rows.shape[-1]))
    for system in np.ndindex(rows.shape[:-2]):
        total[system] = np.sort(rows[system], axis=0).sum(axis=0)
    return total
