// The events of clips side by side, over one axis of time: for each dimension a row of every clip.

/** The lanes of clips on a shared axis; `onSelect` is called with a claim. */
function createSharedLanes(clips, axis, { onSeek, onSelect }) {
  const bars = new Map();
  const inClips = clips.flatMap((clip) => clip.events.map((event) => event.dimension));
  const found = new Set(inClips);
  const ids = [...new Set([...dimensions.keys(), ...inClips])].filter((id) => found.has(id));
  const rows = ids.flatMap((id) =>
    clips.map((clip, place) => sharedRow(clip, id, place === 0, axis, bars, onSelect)),
  );
  const { element, setTime, setLoop } = createAxis(axis, rows, {
    onSeek,
    say: (_, frame) => seconds(axis.frame_times_s[frame]),
  });
  element.classList.add("lanes", "shared");
  return { element, setTime, setLoop, select: (claim) => pressBars(bars, claim) };
}

function sharedRow(clip, id, isFirst, axis, bars, onSelect) {
  const { code, name, definition } = dimensionOf(id);
  const mine = clip.events.filter((event) => event.dimension === id && event.spans.length);
  const words = mine.length ? null : silence(clip, id);
  const row = axisRow(
    [
      isFirst && make("abbr", { title: definition }, code),
      isFirst && make("span", {}, name),
      make("span", { class: "side" }, clip.side),
    ],
    ...drawClaims({ ...clip, axis_s: axis.duration_s }, mine, "events", bars, onSelect),
    words && make("span", { class: "lane-words" }, words),
    clip.duration_s < axis.duration_s - 1e-3 && overMark(clip, axis),
  );
  row.toggleAttribute("data-first", isFirst);
  return row;
}

/** Why a lane is empty. */
function silence(clip, id) {
  if (clip.events.some((event) => event.dimension === id)) return "an event was found, but its time is not known";
  const state = clip.coverage ? (clip.coverage[id] ?? "not_examined") : "examined";
  if (state === "not_examined") return "not examined";
  if (state === "ruled_out") return "ruled out by the router";
  const open = clip.status === "complete" ? "" : `, but the report is ${clip.status}`;
  return `${state === "partial" ? "partially covered, " : ""}nothing found${open}`;
}

const overMark = (clip, axis) =>
  make("span", {
    class: "over-mark",
    title: `the clip ends at ${seconds(clip.duration_s)}`,
    style: {
      left: percent(clip.duration_s, axis.duration_s),
      width: percent(axis.duration_s - clip.duration_s, axis.duration_s),
    },
  });
