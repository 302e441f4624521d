// An axis of time: a ruler over rows, and the playhead across all of them.

/** The least width of a bar, as a share of the clip, so that a single frame can still be seen and hit. */
const LEAST_WIDTH = 0.022;

/**
 * A ruler over rows that share one axis of time, with a playhead; `rows` are elements made by `axisRow`; `say` gives the
 * text of a frame.
 */
function createAxis(clip, rows, { onSeek, say = frameLabel }) {
  const playhead = make("div", { class: "playhead" });
  const over = make("div", { class: "over" }, playhead);
  const ruler = make(
    "div",
    {
      class: "ruler",
      role: "slider",
      tabindex: "0",
      "aria-label": "time in the clip; the arrow keys move by one frame",
      "aria-valuemin": "0",
      "aria-valuemax": clip.frame_times_s.length - 1,
    },
    tickMarks(clip.duration_s, 1),
  );
  const element = make(
    "div",
    { class: "axis" },
    axisRow("", ruler),
    rows,
    over,
  );
  scrub(element, ruler, (position) => onSeek(position * clip.duration_s));
  return {
    element,
    /** Show `zoom` times as many marks, for an axis that is as much wider than its box. */
    setZoom(zoom) {
      ruler.replaceChildren(...tickMarks(clip.duration_s, zoom));
      element.style.setProperty("--zoom", zoom);
    },
    setTime(time) {
      const frame = frameAt(clip, time);
      playhead.style.setProperty("left", percent(time, clip.duration_s));
      ruler.setAttribute("aria-valuenow", frame);
      ruler.setAttribute("aria-valuetext", say(clip, frame));
    },
    /** Mark the loop and the event in it; null for no loop. */
    setLoop(loop) {
      const stretch = (name) => ([start, end]) =>
        make("div", {
          class: name,
          style: { left: percent(start, clip.duration_s), width: percent(end - start, clip.duration_s) },
        });
      const marks = loop ? [...loop.windows.map(stretch("looped")), ...loop.spans.map(stretch("own"))] : [];
      over.replaceChildren(...marks, playhead);
    },
  };
}

function axisRow(label, ...track) {
  return make(
    "div",
    { class: "row" },
    make("div", { class: "label" }, label),
    make("div", { class: "track" }, track),
  );
}

/** The marks of the ruler. */
const tickMarks = (duration, zoom) =>
  ticks(duration, zoom).map((at) =>
    make("span", { class: "tick", style: { left: percent(at, duration) } }, `${at}${at === 0 ? " s" : ""}`),
  );

/** Round times for the ruler, about ten of them in view. */
function ticks(duration, zoom) {
  const shown = duration / zoom;
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((each) => shown / each <= 12) ?? 1800;
  return Array.from({ length: Math.floor((duration * 0.985) / step) + 1 }, (_, index) =>
    Number((index * step).toFixed(1)),
  );
}

/** Seek where the pointer is pressed and dragged, on any part of a row that is not a button. */
function scrub(element, ruler, onPosition) {
  const move = (event) => {
    const box = ruler.getBoundingClientRect();
    onPosition(Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1));
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.target.closest(".track") || event.target.closest("button")) return;
    element.setPointerCapture(event.pointerId);
    move(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) move(event);
  });
}

/** Put claims into as few rows as possible without overlaps. Claims are given in order of onset. */
function pack(claims, duration) {
  const rows = [];
  for (const claim of claims) {
    const end = Math.max(claim.offset, claim.spans.at(-1)[0] + LEAST_WIDTH * duration);
    const row = rows.find((each) => each.end <= claim.onset);
    if (row) row.push(claim);
    else rows.push([claim]);
    (row ?? rows.at(-1)).end = end;
  }
  return rows;
}
