// The events on lanes, with a lane for each dimension: bars whose body and edges are dragged, on an axis that zooms.

const ZOOMS = [1, 2, 4, 8, 16];

/**
 * The lanes; `onSeek` is called with a time, `onSelect` with an event and the number of a span, and `onDrag` with an
 * event, the number of a span, the dragged span, what is dragged ("start", "end" or "body"), and whether it is dropped.
 */
function createTracks(clip, guide, { onSeek, onSelect, onDrag }) {
  const lanes = new Map([...guide.dimensions, null].map((dimension) => [dimension?.id ?? null, makeLane(dimension)]));
  const axis = createAxis(clip, [...lanes.values()], {
    onSeek,
    say: (_, frame) => timeWords(clip, clip.frame_times_s[frame]),
  });
  axis.element.classList.add("lanes");
  const element = make(
    "div",
    { class: "tracks", tabindex: "0", role: "region", "aria-label": "timeline" },
    axis.element,
  );
  let zoom = 1;
  let drawn = { events: [], selected: null, spanNumber: 0 };
  let drag = null;

  function draw(events, selected, spanNumber) {
    drawn = { events, selected, spanNumber };
    const focus = document.activeElement?.dataset.bar;
    for (const [id, lane] of lanes) {
      const mine = events.filter((event) => event.dimension === id && event.spans.length > 0);
      lane.hidden = id === null && mine.length === 0;
      const rows = pack(inOrder(mine).map(asClaim), clip.duration_s / zoom);
      lane.lastChild.replaceChildren(...rows.map((row) => make("div", { class: "sub" }, row.map(drawEvent))));
    }
    if (focus) element.querySelector(`[data-bar="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  const asClaim = (event) => ({
    event,
    spans: event.spans.map((span) => [span.start_s, span.end_s]),
    onset: event.spans[0].start_s,
    offset: event.spans.at(-1).end_s,
  });

  function drawEvent({ event, onset, offset }) {
    const bars = event.spans.map((span, number) => drawSpan(event, span, number));
    const width = percent(offset - onset, clip.duration_s);
    const thread = make("span", { class: "thread", style: { left: percent(onset, clip.duration_s), width } });
    return bars.length > 1 ? [thread, ...bars] : bars;
  }

  function drawSpan(event, span, number) {
    const name = guide.type(event.type)?.name ?? "no type";
    const part = event.spans.length > 1 ? `, span ${number + 1} of ${event.spans.length}` : "";
    const verdict = event.verdict ?? (event.origin === "model" ? "not reviewed" : null);
    const label = [name, `severity ${event.severity ?? "not given"}`, spanWords(span) + part, verdict].filter(Boolean);
    const isSelected = event.id === drawn.selected;
    return make(
      "button",
      {
        type: "button",
        class: "bar",
        title: label.join(", "),
        "aria-label": label.join(", "),
        "aria-pressed": String(isSelected),
        "data-bar": `${event.id} ${number}`,
        "data-current": isSelected && number === drawn.spanNumber,
        "data-place": guide.dimension(event.dimension)?.place ?? "none",
        "data-origin": event.origin,
        "data-verdict": event.verdict,
        style: {
          left: percent(span.start_s, clip.duration_s),
          width: percent(span.end_s - span.start_s, clip.duration_s),
        },
        // A pointer selects when it is pressed; this is for Enter.
        onclick: () => onSelect(event, number),
        onpointerdown: (pointer) => begin(pointer, event, number, "body"),
      },
      make("i", { class: "grip", onpointerdown: (pointer) => begin(pointer, event, number, "start") }),
      make("b", {}, event.severity ?? "?"),
      make("span", {}, name),
      make("i", { class: "grip", onpointerdown: (pointer) => begin(pointer, event, number, "end") }),
    );
  }

  function begin(pointer, event, number, part) {
    if (pointer.button !== 0) return;
    pointer.stopPropagation();
    onSelect(event, number);
    drag = { event, number, part, x: pointer.clientX, span: event.spans[number], moved: false };
    element.setPointerCapture(pointer.pointerId);
  }

  function dragged(pointer) {
    const { part, span } = drag;
    const width = axis.element.querySelector(".ruler").getBoundingClientRect().width;
    const by = ((pointer.clientX - drag.x) / width) * clip.duration_s;
    if (part === "start") return withStart(clip, span, Math.min(span.start_s + by, span.end_s - GRID_S));
    if (part === "end") return withEnd(clip, span, Math.max(span.end_s + by, span.start_s + GRID_S));
    return movedTo(clip, span, span.start_s + by);
  }

  element.addEventListener("pointermove", (pointer) => {
    if (!drag || (!drag.moved && Math.abs(pointer.clientX - drag.x) < 3)) return;
    drag.moved = true;
    onDrag(drag.event, drag.number, dragged(pointer), drag.part, false);
  });
  for (const name of ["pointerup", "pointercancel"])
    element.addEventListener(name, (pointer) => {
      const ended = drag;
      if (ended?.moved) onDrag(ended.event, ended.number, dragged(pointer), ended.part, true);
      drag = null;
    });

  function setZoom(to) {
    zoom = to;
    axis.setZoom(zoom);
    draw(drawn.events, drawn.selected, drawn.spanNumber);
    showPlayhead();
  }

  /** Scroll a zoomed axis until the playhead is in view. */
  function showPlayhead() {
    if (zoom === 1) return;
    const box = element.getBoundingClientRect();
    const x = axis.element.querySelector(".playhead").getBoundingClientRect().left;
    const from = axis.element.querySelector(".label").getBoundingClientRect().right;
    if (x < from || x > box.right - 8) element.scrollLeft += x - (from + box.right) / 2;
  }

  return {
    element,
    draw,
    setLoop: axis.setLoop,
    setTime(time) {
      axis.setTime(time);
      showPlayhead();
    },
    zoomIn: () => setZoom(ZOOMS[ZOOMS.indexOf(zoom) + 1] ?? zoom),
    zoomOut: () => setZoom(ZOOMS[ZOOMS.indexOf(zoom) - 1] ?? zoom),
  };
}

function makeLane(dimension) {
  const label = dimension
    ? [
        make("span", { class: "swatch", "data-place": dimension.place }),
        dimension.key !== null && make("kbd", {}, dimension.key ?? `${dimension.place + 1}`),
        make("span", {}, dimension.name),
      ]
    : make("span", {}, "no dimension yet");
  return axisRow(label);
}
