// Where a claim is seen: its boxes, in the pictures of the page and in the video.

/** A box of a view as a part of the whole "picture" or "video" (`of`); null for a view that the clip does not have. */
function placeOf(clip, view, box, of) {
  const place = clip.media.views?.places[view]?.[of];
  if (!place) return null;
  const [left, top, right, bottom] = place;
  const across = (share) => left + share * (right - left);
  const down = (share) => top + share * (bottom - top);
  if (!box) return { left, top, right, bottom };
  return { left: across(box.left), top: down(box.top), right: across(box.right), bottom: down(box.bottom) };
}

/** The only view of a clip, null if it has several. */
function onlyView(clip) {
  const views = Object.keys(clip.media.views?.places ?? {});
  return views.length === 1 ? views[0] : null;
}

/**
 * The boxes of a claim for one frame, each with its view, from the evidence that cites the nearest frames.
 * `exact`: the frame is in the spans of the claim, or cited.
 */
function boxesAt(clip, claim, frame) {
  const cited = claim.evidence
    .map((evidence) => ({ ...evidence, view: evidence.view ?? onlyView(clip) }))
    .filter(({ box, view }) => box && view !== null);
  const away = ({ frames }) =>
    frames.length ? Math.min(...frames.map((each) => Math.abs(each - frame))) : 0;
  const boxes = [];
  for (const view of new Set(cited.map((evidence) => evidence.view))) {
    const here = cited.filter((evidence) => evidence.view === view);
    const least = Math.min(...here.map(away));
    boxes.push(...here.filter((evidence) => away(evidence) === least));
  }
  const inside = isInside(claim.spans, clip.frame_times_s[frame], frameEnd(clip, frame));
  return boxes.map(({ box, view, frames }) => ({ box, view, exact: inside || frames.includes(frame) }));
}

/** Whether something that lasts from `start` to `end` shares time with any of some spans. */
const isInside = (spans, start, end) => spans.some(([from, to]) => start < to - 1e-6 && end > from + 1e-6);

/** The views that a claim's evidence names; empty if it names none. */
const viewsOf = (claim) => [...new Set(claim.evidence.map(({ view }) => view).filter((view) => view !== null))];
