// What repeats while an event is selected: the event with a little context before and after it.

const CONTEXT_S = 1;

/** Spans with their context, between 0 and `duration`; spans that meet become one. */
function withContext(spans, duration) {
  const windows = [];
  for (const [start, end] of spans) {
    const window = [Math.max(start - CONTEXT_S, 0), Math.min(end + CONTEXT_S, duration)];
    const last = windows.at(-1);
    if (last && window[0] <= last[1]) last[1] = Math.max(last[1], window[1]);
    else windows.push(window);
  }
  return windows;
}

/**
 * The loop as a bar: its windows end to end, the event's own spans marked, and where it is. `onSeek` is called with a
 * time of the clip.
 */
function createLoopBar({ onSeek }) {
  const head = make("span", { class: "loop-head" });
  const element = make("div", { class: "loop-bar", hidden: true, title: "the part of the clip that repeats; the event itself is marked" });
  let windows = [];
  let total = 1;

  const before = (place) => windows.slice(0, place).reduce((sum, [start, end]) => sum + end - start, 0);

  /** The position of a time in the loop, null for a time outside. */
  function into(time) {
    const place = windows.findIndex(([start, end]) => time >= start - 1e-3 && time <= end + 1e-3);
    return place < 0 ? null : before(place) + time - windows[place][0];
  }

  element.addEventListener("pointerdown", (event) => {
    const box = element.getBoundingClientRect();
    let left = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.9999) * total;
    for (const [start, end] of windows) {
      if (left < end - start) return onSeek(start + left);
      left -= end - start;
    }
  });

  return {
    element,
    /** Show a loop; null for none. */
    show(loop) {
      element.hidden = !loop;
      windows = loop?.windows ?? [];
      total = before(windows.length) || 1;
      const marks = (loop?.spans ?? []).map(([start, end]) =>
        make("span", {
          class: "loop-own",
          "data-severity": loop.severity ?? "none",
          style: { left: percent(into(start), total), width: percent(end - start, total) },
        }),
      );
      const seams = windows.slice(1).map((_, place) =>
        make("span", { class: "loop-seam", style: { left: percent(before(place + 1), total) } }),
      );
      element.replaceChildren(...marks, ...seams, head);
    },
    setTime(time) {
      const at = into(time);
      if (at !== null) head.style.setProperty("left", percent(at, total));
    },
  };
}

/** Where a time is relative to an event: before it, in it, between its parts, or after it. */
function phaseOf(spans, start, end) {
  if (isInside(spans, start, end)) return "event";
  if (end <= spans[0][0] + 1e-6) return "before";
  return start >= spans.at(-1)[1] - 1e-6 ? "after" : "between";
}

const PHASES = { before: "before the event", event: "the event", between: "between the parts of the event", after: "after the event" };
