// Lanes over time: one for each dimension, events as bars.

/** The lanes of a clip; `onSelect` is called with a claim. */
function createTimeline(clip, { onSeek, onSelect }) {
  const bars = new Map();
  const inReport = [...clip.events, ...clip.undecided, ...clip.setAside].map((claim) => claim.dimension);
  const ids = [...new Set([...dimensions.keys(), ...Object.keys(clip.report.coverage), ...inReport])];
  const axis = createAxis(
    clip,
    ids.map((id) => lane(clip, id, bars, onSelect)),
    { onSeek },
  );
  axis.element.classList.add("lanes");
  return {
    element: axis.element,
    setTime: axis.setTime,
    setLoop: axis.setLoop,
    select: (claim) => pressBars(bars, claim),
    showSetAside: (shown) => axis.element.toggleAttribute("data-set-aside", shown),
  };
}

function lane(clip, id, bars, onSelect) {
  const dimension = dimensionOf(id);
  const mine = (claims) => claims.filter((claim) => claim.dimension === id);
  const [state, words, reason] = laneState(clip, dimension, mine(clip.events));
  const label = [
    make("abbr", { title: dimension.definition }, dimension.code),
    make("span", {}, dimension.name),
  ];
  const element = axisRow(
    label,
    ...tracks(mine(clip.events), "events"),
    ...tracks(mine(clip.undecided), "undecided"),
    ...tracks(mine(clip.setAside), "hypotheses"),
    words && make("span", { class: "lane-words", title: reason }, words),
  );
  element.dataset.state = state;
  return element;

  function tracks(claims, kind) {
    return drawClaims(clip, claims, kind, bars, onSelect);
  }
}

/** Claims as rows of bars on an axis of `clip.axis_s` seconds; the bars of each claim are added to `bars`. */
function drawClaims(clip, claims, kind, bars, onSelect) {
  return pack(claims, clip.axis_s).map((row) => make("div", { class: `sub ${kind}` }, row.map(draw)));

  function draw(claim) {
    const pieces = claim.spans.map((span, part) => bar(clip, claim, span, part, onSelect));
    bars.set(claim, pieces);
    const width = percent(claim.offset - claim.onset, clip.axis_s);
    const thread = make("span", {
      class: "thread",
      style: { left: percent(claim.onset, clip.axis_s), width },
    });
    return pieces.length > 1 ? [thread, ...pieces] : pieces;
  }
}

/** Mark the bars of this claim only. */
function pressBars(bars, claim) {
  for (const [owner, elements] of bars)
    for (const bar of elements) bar.setAttribute("aria-pressed", String(owner === claim));
}

/** How far a dimension was examined in this clip: a style for its lane, a few words, and the full reason. */
function laneState(clip, dimension, events) {
  const { state, reason } = clip.report.coverage[dimension.id] ?? NOT_NAMED;
  const open = undecided(clip, dimension.id);
  // The bar of an undecided claim needs no words across it.
  const drawn = clip.undecided.some((claim) => claim.dimension === dimension.id);
  if (open) return ["undecided", drawn ? null : `undecided: ${open}`, open];
  const also = clip.events.find((event) => event.secondary.includes(dimension.id));
  const words = also ? `see ${typeOf(also.type).name}` : LANE_WORDS[state](reason);
  return [state, events.length ? null : words, reason];
}

const NOT_NAMED = { state: "not_examined", reason: "the report does not name this dimension" };

const LANE_WORDS = {
  examined: () => "nothing found",
  ruled_out: () => "ruled out by the router",
  partial: () => "partially covered, nothing found",
  not_examined: (reason) => `not examined: ${reason}`,
};

/** Why a dimension is undecided in this clip: a failure or a hypothesis without a verdict; null if it is not. */
function undecided(clip, id) {
  const failure = clip.report.failures.find((each) => each.dimension === id);
  if (failure) return failure.message;
  const claim = clip.undecided.find((each) => each.dimension === id && each.verdict === "unverified");
  return claim ? claim.reason || "a hypothesis in this dimension has no verdict" : null;
}

function bar(clip, claim, [start, end], part, onSelect) {
  const name = typeOf(claim.type).name;
  const word = claim.kind === "hypothesis" ? claim.shown.verdict : claim.result;
  const verdict = word ? `${word}: ` : "";
  const parts = claim.spans.length > 1 ? `, part ${part + 1} of ${claim.spans.length}` : "";
  const label = `${verdict}${name}, ${severityOf(claim.severity).word}, ${spanText([start, end])}${parts}`;
  return make(
    "button",
    {
      type: "button",
      class: "bar",
      title: label,
      "aria-label": label,
      "aria-pressed": "false",
      "data-claim": claim.id,
      "data-kind": claim.kind,
      "data-result": claim.result || null,
      "data-severity": claim.severity ?? "none",
      style: { left: percent(start, clip.axis_s), width: percent(end - start, clip.axis_s) },
      onclick: () => onSelect(claim),
    },
    make("b", {}, claim.severity ?? "?"),
    make("span", {}, `${verdict}${name}`),
  );
}

/** The legend of the bars; `more` are further entries. */
function severityLegend(...more) {
  return make(
    "ul",
    { class: "legend", "aria-label": "severity" },
    Object.entries(vocabulary.severity).map(([level, { name, definition }]) =>
      make(
        "li",
        { title: definition },
        make("span", { class: "bar", "data-severity": level }, make("b", {}, level)),
        name,
      ),
    ),
    more,
  );
}
