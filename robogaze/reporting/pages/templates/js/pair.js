// Two clips of one prompt side by side: what changed, both pictures and both timelines on one clock, and the events.

const SIDES = ["before", "after"];

/** Both clips of a flip, in the form that players and timelines take. */
async function readPair(flip) {
  const read = async (side, place) => {
    const clip = await readData(flip.keys[place], flip.files[place]);
    const events = clip.events.map((event) => asEvent(event, side)).sort(byOnset);
    // What is not known to end does not end on this page.
    const duration_s = clip.duration_s ?? Infinity;
    return { ...clip, duration_s, side, run: flip.runs[place], media: { thumbnails: {}, views: null }, events };
  };
  return Promise.all(SIDES.map(read));
}

const asEvent = (event, side) => ({
  ...asClaim(event, "event"),
  id: `${side} ${event.id}`,
  dimension: event.dimension ?? "(no dimension)",
  type: event.type ?? "(no type)",
  evidence: [],
  keyFrames: null,
});

/** Show a flip inside `home`; `onChoose` is called with the id of the event that is selected. */
function showPair(home, clips, flip, onChoose) {
  const axis = sharedAxis(clips);
  const events = clips.flatMap((clip) => clip.events).sort(byOnset);
  let selected = null;
  const clock = axis
    ? createClock(clips, axis, {
        onTime: (time) => lanes.setTime(time),
        onLoop: (loop) => lanes.setLoop(loop),
      })
    : noClock();
  const lanes = axis ? createSharedLanes(clips, axis, { onSeek: clock.goTo, onSelect: select }) : noLanes();
  const lists = clips.map((clip) => createClaims(clip, clip.events, { onSelect: select, onFrame: () => () => {} }));

  home.replaceChildren(
    flipHead(flip),
    make("div", { class: "pair" }, clock.element),
    make(
      "div",
      { class: "timeline" },
      lanes.element,
      make("div", { class: "under" }, severityLegend(), keyHints("prompt", ["s", "slower"])),
    ),
    make(
      "div",
      { class: "sides" },
      clips.map((clip, place) => sideFindings(clip, lists[place])),
    ),
  );
  clock.goTo(0);

  function select(claim) {
    selected = claim;
    lanes.select(claim);
    for (const list of lists) list.select(claim);
    if (claim.spans.length) clock.repeat([claim.onset, claim.offset]);
    onChoose(claim.id);
  }

  return {
    ...clock,
    selectById(id) {
      const claim = events.find((one) => one.id === id);
      if (claim && claim !== selected) select(claim);
    },
    /** Select the next event of either clip, or the one before; they go round. */
    move(by) {
      if (!events.length) return;
      const at = events.indexOf(selected);
      select(events[at < 0 ? (by > 0 ? 0 : events.length - 1) : (at + by + events.length) % events.length]);
    },
  };
}

const noClock = () => ({
  element: make("p", { class: "quiet" }, "How long these clips are, and when what happens, is not known."),
  toggle() {},
  step() {},
  goTo() {},
  escape() {},
  repeat() {},
  close() {},
});

const noLanes = () => ({ element: make("div"), setLoop() {}, select() {} });

function flipHead(flip) {
  return make(
    "div",
    { class: "clip-head" },
    make("h2", {}, make("bdi", {}, flip.prompt), kindMark(flip.kind)),
    make(
      "p",
      { class: "sentence" },
      `${KINDS[flip.kind].said}, from `,
      make("bdi", {}, flip.runs[0]),
      " (before) to ",
      make("bdi", {}, flip.runs[1]),
      ` (after): sum of severities ${flip.load_before} → ${flip.load_after}. `,
      changes(flip),
    ),
  );
}

function sideFindings(clip, list) {
  const { length } = clip.events;
  return make(
    "div",
    { class: "findings", role: "region", "aria-label": `events ${clip.side}` },
    make(
      "h3",
      {},
      make("span", { class: "side" }, clip.side),
      " ",
      make("bdi", {}, clip.run),
      ` · ${length ? plural(length, "event") : "no event"}`,
    ),
    make("p", { class: "quiet" }, make("bdi", {}, clip.id), clip.status === "complete" ? "" : ` · ${clip.status}`),
    length > 0 && list.element,
  );
}
