// An entry of a page of results: its sides on one timeline and one clock, with the events of each.

/** The sides of an entry, in the form that players and timelines need. */
async function readSides(entry) {
  const read = async ({ label, name, key, file }) => {
    const clip = await readData(key, file);
    const events = clip.events.map((event) => asEvent(event, label)).sort(byOnset);
    // A clip of unknown length never ends on this page.
    const duration_s = clip.duration_s ?? Infinity;
    return { ...clip, duration_s, side: label, run: name, media: { thumbnails: {}, views: null }, events };
  };
  return Promise.all(entry.sides.map(read));
}

const asEvent = (event, side) => ({
  ...asClaim(event, "event"),
  id: `${side} ${event.id}`,
  dimension: event.dimension ?? "(no dimension)",
  type: event.type ?? "(no type)",
  evidence: [],
  keyFrames: null,
});

/** Show an entry inside `home`; `onChoose` is called with the id of the selected event. */
function showSides(home, clips, entry, { noun, oneVideo }, onChoose) {
  const axis = sharedAxis(clips);
  const events = clips.flatMap((clip) => clip.events).sort(byOnset);
  const onScreen = oneVideo ? [clips.find((clip) => clip.video !== null) ?? clips[0]] : clips;
  let selected = null;
  const clock = axis
    ? createClock(onScreen, axis, {
        onTime: (time) => lanes.setTime(time),
        onLoop: (loop) => lanes.setLoop(loop),
      })
    : noClock();
  const lanes = axis ? createSharedLanes(clips, axis, { onSeek: clock.goTo, onSelect: select }) : noLanes();
  const lists = clips.map((clip) => createClaims(clip, clip.events, { onSelect: select, onFrame: () => () => {} }));

  const player = make("div", { class: "pair", "data-screens": onScreen.length }, clock.element);
  const findings = make(
    "div",
    { class: "sides" },
    clips.map((clip, place) => sideFindings(clip, lists[place])),
  );
  home.replaceChildren(
    entryHead(entry),
    oneVideo ? make("div", { class: "player-and-events" }, player, findings) : player,
    make(
      "div",
      { class: "timeline" },
      lanes.element,
      make("div", { class: "under" }, severityLegend(), keyHints(noun, ["s", "slower"])),
    ),
    oneVideo ? "" : findings,
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
      const claim = events.find((event) => event.id === id);
      if (claim && claim !== selected) select(claim);
    },
    /** Select the next event of any side, or the previous one; after the last event comes the first. */
    move(by) {
      if (!events.length) return;
      const at = events.indexOf(selected);
      select(events[at < 0 ? (by > 0 ? 0 : events.length - 1) : (at + by + events.length) % events.length]);
    },
  };
}

const noClock = () => ({
  element: make("p", { class: "quiet" }, "The lengths of these clips and the times of the events are not known."),
  toggle() {},
  step() {},
  goTo() {},
  escape() {},
  repeat() {},
  close() {},
});

const noLanes = () => ({ element: make("div"), setLoop() {}, select() {} });

function entryHead(entry) {
  return make(
    "div",
    { class: "clip-head" },
    make("h2", {}, make("bdi", {}, entry.title), markOf(entry)),
    make("p", { class: "sentence" }, `${entry.sentence}. `, changesOf(entry)),
    entry.links.length > 0 &&
      make(
        "p",
        { class: "sentence" },
        "Report: ",
        entry.links.map(([text, href], place) => [place > 0 && " · ", make("a", { href }, make("bdi", {}, text))]),
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
