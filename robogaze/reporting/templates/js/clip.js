// One clip on the desk: its head, player, timeline, findings and record, tied together by time and selection.

/** Show a clip inside `home`; `onChoose` is called with the id of the claim that is selected, or null. */
function showClip(home, clip, onChoose) {
  let selected = null;
  let listeners = [];

  const player = createPlayer(clip, { onTime: (time) => listeners.forEach((listener) => listener(time)) });
  const onSeek = player.goTo;
  const onFrame = (frame) => player.goTo(clip.frame_times_s[frame]);
  const timeline = createTimeline(clip, { onSeek, onSelect: select });
  const events = createClaims(clip, clip.events, { onSelect: select, onFrame });
  const setAside = createClaims(clip, clip.setAside, { onSelect: select, onFrame });
  const ledger = createLedger(clip, { onSeek });
  listeners = [timeline.setTime, ledger.setTime];

  const toggle = make("input", { type: "checkbox", onchange: () => timeline.showSetAside(toggle.checked) });
  const aside = clip.setAside.length > 0 && folded("Set aside", countsOf(clip.setAside), setAside.element);

  home.replaceChildren(
    ...[
      clipHead(clip),
      make("div", { class: "stand" }, player.element, findings(clip, events, aside)),
      make(
        "div",
        { class: "timeline" },
        timeline.element,
        make(
          "div",
          { class: "under" },
          legend(),
          clip.setAside.length > 0 &&
            make("label", {}, toggle, ` show ${plural(clip.setAside.length, "claim")} set aside`),
          keyHints("clip"),
        ),
      ),
      ...createRemarks(clip),
      ledger.element,
      ...createRecord(clip),
    ].filter(Boolean),
  );
  listeners.forEach((listener) => listener(0));
  // The first event lies open, so that its frames are seen without a click; nothing plays until it is chosen.
  if (clip.events.length) events.select(clip.events[0]);

  function select(claim) {
    selected = claim;
    const inAside = claim.kind === "hypothesis";
    if (inAside) {
      aside.open = true;
      toggle.checked = true;
      timeline.showSetAside(true);
    }
    timeline.select(claim);
    events.select(claim);
    setAside.select(claim);
    player.repeat(claim.spans);
    onChoose(claim.id);
  }

  return {
    ...player,
    selectById(id) {
      const claim = [...clip.events, ...clip.setAside].find((one) => one.id === id);
      if (claim && claim !== selected) select(claim);
    },
    /** Select the next event, or the one before; they go round. */
    move(by) {
      const { length } = clip.events;
      if (!length) return;
      const at = clip.events.indexOf(selected);
      select(clip.events[at < 0 ? (by > 0 ? 0 : length - 1) : (at + by + length) % length]);
    },
  };
}

function clipHead(clip) {
  const { standing, words } = standingOf(clip.report);
  return make(
    "div",
    { class: "clip-head" },
    make(
      "h2",
      {},
      make("bdi", {}, clip.id),
      make(
        "span",
        { class: "status", "data-standing": standing },
        words,
      ),
    ),
    clip.instruction === null
      ? make("p", { class: "quiet" }, "No instruction was given for this clip.")
      : make("p", { class: "instruction", dir: "auto" }, clip.instruction),
    make(
      "p",
      { class: "sentence" },
      clip.media.verdict,
      clip.media.other_version && " Made under another version of the domain than this page.",
    ),
  );
}

function findings(clip, events, aside) {
  const { length } = clip.events;
  return make(
    "div",
    { class: "findings", role: "region", "aria-label": "findings" },
    make("h3", {}, length ? plural(length, "event") : "Events"),
    length ? events.element : make("p", { class: "quiet" }, clip.report.status === "unscored" ? "Nothing is known." : "No event."),
    aside,
  );
}

function countsOf(claims) {
  return ["rejected", "merged", "unverified"]
    .map((verdict) => [claims.filter((claim) => claim.verdict === verdict).length, verdict])
    .filter(([count]) => count)
    .map(([count, verdict]) => `${count} ${verdict}`)
    .join(", ");
}

function legend() {
  const setAside = make(
    "li",
    {},
    make("span", { class: "bar", "data-kind": "hypothesis", "data-severity": "none" }, make("b", {}, "3")),
    "set aside",
  );
  return severityLegend(setAside);
}
