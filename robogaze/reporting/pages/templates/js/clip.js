// The open clip: its head, player, timeline, findings and record, which share the time and the selection.

/** Show a clip inside `home`; `onChoose` is called with the id of the claim that is selected, or null. */
function showClip(home, clip, onChoose) {
  let selected = null;
  let listeners = [];

  const player = createPlayer(clip, {
    onTime: (time) => listeners.forEach((listener) => listener(time)),
    onLoop: (loop) => timeline.setLoop(loop),
  });
  const onSeek = player.goTo;
  const onFrame = (claim) => (frame) => {
    if (claim !== selected) select(claim);
    player.showLarge(frame);
  };
  const timeline = createTimeline(clip, { onSeek, onSelect: select });
  const list = (claims) => createClaims(clip, claims, { onSelect: select, onFrame });
  const events = list(clip.events);
  const undecidedClaims = list(clip.undecided);
  const setAside = list(clip.setAside);
  const ledger = createLedger(clip, { onSeek });
  listeners = [timeline.setTime, ledger.setTime];

  const toggle = make("input", { type: "checkbox", onchange: () => timeline.showSetAside(toggle.checked) });
  const aside = clip.setAside.length > 0 && folded("Set aside", countsOf(clip.setAside), setAside.element);

  home.replaceChildren(
    ...[
      clipHead(clip),
      make("div", { class: "player-and-events" }, player.element, findings(clip, events, undecidedClaims, aside)),
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
          keyHints("clip", ["s", "slower"], ["z", "enlarge"], ["c", "close-up"]),
        ),
      ),
      ...createRemarks(clip),
      ledger.element,
      ...createRecord(clip),
    ].filter(Boolean),
  );
  listeners.forEach((listener) => listener(0));
  present(worstOf(clip.events) ?? clip.undecided[0]);

  /** Open a claim and show its first frame; it plays only when it is selected. */
  function present(claim) {
    if (!claim) return;
    for (const shown of [events, undecidedClaims]) shown.select(claim);
    timeline.select(claim);
    player.present(claim);
  }

  function select(claim) {
    selected = claim;
    if (clip.setAside.includes(claim)) {
      aside.open = true;
      toggle.checked = true;
      timeline.showSetAside(true);
    }
    timeline.select(claim);
    for (const shown of [events, undecidedClaims, setAside]) shown.select(claim);
    player.repeat(claim);
    onChoose(claim.id);
  }

  return {
    ...player,
    selectById(id) {
      const claim = [...clip.events, ...clip.undecided, ...clip.setAside].find((each) => each.id === id);
      if (claim && claim !== selected) select(claim);
    },
    /** Select the next or the previous event; after the last event comes the first. */
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
      clip.media.other_version && " The report and this page use different versions of the domain.",
    ),
  );
}

const worstOf = (events) =>
  [...events].sort((a, b) => (b.severity ?? 0) - (a.severity ?? 0) || (b.confidence ?? 0) - (a.confidence ?? 0))[0];

function findings(clip, events, undecidedClaims, aside) {
  const { length } = clip.events;
  const head = [
    length ? plural(length, "event") : clip.report.status === "unscored" ? "Nothing is known" : "No event",
    clip.undecided.length > 0 && ` · ${number(clip.undecided.length)} undecided`,
  ];
  return make(
    "div",
    { class: "findings", role: "region", "aria-label": "findings" },
    make("h3", {}, head),
    length > 0 && events.element,
    clip.undecided.length > 0 && undecidedClaims.element,
    aside,
  );
}

function countsOf(claims) {
  return ["rejected", "merged"]
    .map((verdict) => [claims.filter((claim) => claim.shown.verdict === verdict).length, verdict])
    .filter(([count]) => count)
    .map(([count, verdict]) => `${count} ${verdict}`)
    .join(", ");
}

function legend() {
  const hollow = make(
    "li",
    {},
    make("span", { class: "bar", "data-kind": "hypothesis", "data-severity": "none" }, make("b", {}, "3")),
    "undecided or set aside",
  );
  return severityLegend(hollow);
}
