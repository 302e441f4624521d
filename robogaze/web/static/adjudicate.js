// The page of one clip on which annotators disagree: their events side by side, and what is decided about each.

openClip(createAdjudication);

const RESULT = "result";

function createAdjudication(clip, guide, person, clips) {
  const known = new Set(clip.disagreements.map(({ id }) => id));
  const ofThisClip = (decisions) => decisions.filter(({ disagreement }) => known.has(disagreement));
  let selected = 0; // number of a disagreement
  let spanNumber = 0; // of the merged event
  let stroke = 0; // counts what is undone together
  let isLooping = false;
  let isSubmitted = clip.annotation.status === "submitted";

  const submitButton = make("button", { type: "button", title: "Ctrl+Enter", onclick: submit }, "Submit");
  const page = createClipPage(clip, guide, person, clips, "adjudicate", submitButton);
  const { say } = page;
  const video = makeClipVideo(clip);
  const playback = createPlayback(clip, video, {
    betweenFrames: true,
    onTime: (time) => follow(time),
    onFrame: (frame) => transport.setOnScreen(frame),
    onPlaying: (isPlaying) => transport.setPlaying(isPlaying),
    onLoop(loop) {
      isLooping = loop !== null;
      tracks.setLoop(loop);
      transport.setLoop(loop);
    },
    onBroken: () => say("The browser cannot play this video.", true),
  });
  const state = createAnnotation({ decisions: ofThisClip(clip.annotation.decisions) }, changed);
  const picture = createPicture(clip, video, { onBox: () => {}, onClick: () => transport.toggle() });
  const transport = createTransport(clip, playback, picture);
  const lanes = createLanes(clip, guide);
  const tracks = createTracks(clip, lanes.guide, { onSeek: transport.goTo, onSelect: selectBar, onDrag: drag });
  const facts = createTypeFacts(guide);
  const form = createForm(clip, guide, {
    onChange: edit,
    onSpan: visitSpan,
    onVerdict: () => {},
    onReason: () => {},
    onDelete: neither,
    onTypeMarked: facts.show,
  });
  const choices = createChoices(clip, guide, { take, merge, separate, neither });
  const list = make("ol", { class: "events" });
  const progress = make("h2", {});
  const comment = make("textarea", {
    id: "comment",
    rows: "2",
    placeholder: "reason for the decision (w)",
    oninput: () => decide({ comment: comment.value }, `comment ${selected}`),
  });
  const secondsSpent = countWorkTime(clip.annotation.seconds_spent);
  const saver = page.save({
    read: () => ({ ...state.state(), seconds_spent: secondsSpent() }),
    onConflict(theirs) {
      state.change({ decisions: ofThisClip(theirs.decisions) });
      saver.resolve(theirs.revision, false);
      say("This clip was changed in another window. The page now shows the decisions of that window; check your last decision.", true);
    },
    onRefused: (errors) => errors.length && say(`Not saved: ${errors[0].message}.`, true),
  });

  page.show(
    picture,
    transport,
    [
      make("section", { "aria-label": "disagreements" }, progress, list, agreedEvents(clip, guide)),
      clip.disagreements.length > 0 && [choices.element, form.element, field("Comment", "comment", comment)],
      facts.element,
    ],
    "disagreement",
    tracks,
  );

  function follow(time) {
    transport.say(time);
    tracks.setTime(time);
  }

  const current = () => clip.disagreements[selected] ?? null;
  const decisionOf = ({ id }) =>
    state.state().decisions.find(({ disagreement }) => disagreement === id) ?? {
      disagreement: id,
      choice: null,
      events: [],
      merged: null,
      comment: "",
    };
  const mergedNow = () => (current() ? decisionOf(current()).merged : null);
  const spansNow = () => (mergedNow() ?? current()?.merged)?.spans ?? [];
  const spanNow = () => spansNow()[spanNumber] ?? spansNow()[0] ?? null;
  const isDecided = (disagreement) => decisionOf(disagreement).choice !== null;
  /** Whether something is left to do: a decision, or a field of the merged event. */
  function isOpen(disagreement) {
    const { choice, merged } = decisionOf(disagreement);
    return choice === null || (merged !== null && lacks(merged).length > 0);
  }

  function draw() {
    const decided = clip.disagreements.filter(isDecided).length;
    const agreed = clip.settled.length ? `, ${plural(clip.settled.length, "event")} agreed` : "";
    progress.textContent = clip.disagreements.length
      ? `${decided} of ${plural(clip.disagreements.length, "disagreement")} decided${agreed}`
      : `No disagreement${agreed}`;
    const focus = document.activeElement?.dataset.disagreement;
    list.replaceChildren(...clip.disagreements.map(row));
    if (focus) list.querySelector(`[data-disagreement="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    const merged = mergedNow();
    form.element.hidden = !merged;
    if (current()) {
      const decision = decisionOf(current());
      choices.draw(current(), decision);
      if (merged) form.show(merged, spanNumber, false);
      if (document.activeElement !== comment) comment.value = decision.comment;
    }
    facts.show(...typesIn(current(), merged).map(guide.type).filter(Boolean));
    picture.setBox((merged ?? current()?.merged)?.box ?? null);
    tracks.draw(lanes.events(clip.disagreements.map((each) => [each, decisionOf(each)])), barOf(), spanNumber);
    submitButton.textContent = isSubmitted ? "Submitted" : "Submit";
  }

  /** The bar of the selected disagreement: the bar of the merged event, or of the first annotator's event. */
  const barOf = () =>
    mergedNow() ? resultId(current().id) : current() ? Object.values(current().events)[0].id : null;

  function row(disagreement, number) {
    const decision = decisionOf(disagreement);
    const lacking = decision.merged ? lacks(decision.merged) : [];
    return make(
      "li",
      { "data-choice": decision.choice },
      make(
        "button",
        {
          type: "button",
          "aria-pressed": String(number === selected),
          "data-disagreement": disagreement.id,
          onclick: () => visit(number),
        },
        make("span", { class: "claim-name" }, namesOf(disagreement, guide)),
        make("span", { class: "verdict" }, choiceWords(disagreement, decision)),
        make("span", { class: "claim-when" }, spansOf(disagreement, decision).map(spanWords).join(", ")),
        lacking.length > 0 && make("span", { class: "need" }, `needs ${lacking.join(", ")}`),
      ),
    );
  }

  function changed() {
    isSubmitted = false;
    say("");
    saver.touch();
    draw();
  }

  // Moving.

  /** Select a disagreement, and go to where it starts. */
  function visit(number) {
    if (document.activeElement === comment) comment.blur();
    [selected, spanNumber] = [number, 0];
    if (spanNow()) transport.goTo(spanNow().start_s);
    draw();
  }

  function move(by) {
    const count = clip.disagreements.length;
    if (count) visit((selected + by + count) % count);
  }

  /** Go to the next disagreement that is open, or whose merged event lacks something. */
  function visitOpen() {
    const order = clip.disagreements.map((_, number) => (selected + 1 + number) % clip.disagreements.length);
    const next = order.find((number) => isOpen(clip.disagreements[number]));
    if (next === undefined) return say("Every disagreement is decided. Press Ctrl+Enter to submit.");
    visit(next);
  }

  function visitSpan(number) {
    spanNumber = number;
    if (spanNow()) transport.goTo(spanNow().start_s);
    draw();
  }

  function selectBar(event, number) {
    const id = event.id.replace(resultId(""), "");
    const found = clip.disagreements.findIndex(
      (each) => each.id === id || Object.values(each.events).some((other) => other.id === event.id),
    );
    if (found >= 0) [selected, spanNumber] = [found, number];
    transport.goTo(event.spans[number].start_s);
    draw();
  }

  function loopEvent() {
    if (isLooping) return transport.goTo(playback.time());
    if (spansNow().length) playback.repeat(spansNow().map((span) => [span.start_s, span.end_s]));
  }

  // Deciding.

  function decide(changes, strokeName = null) {
    if (!current()) return say("There is no disagreement in this clip.");
    const next = { ...decisionOf(current()), ...changes };
    const decisions = clip.disagreements
      .map((each) => (each === current() ? next : decisionOf(each)))
      .filter(({ choice, comment: words }) => choice !== null || words !== "");
    state.change({ decisions }, strokeName);
  }

  function take(number) {
    const letter = clip.annotators[number];
    if (!letter) return say(`This clip has only ${clip.annotators.length} annotators.`);
    const event = current()?.events[letter];
    if (current() && !event) return say(`Annotator ${letter} reports no event here. Press x if there is no event.`);
    decide({ choice: "events", events: [event?.id], merged: null });
  }

  function separate() {
    const events = Object.values(current()?.events ?? {}).map(({ id }) => id);
    decide({ choice: "events", events, merged: null });
  }

  function neither() {
    decide({ choice: "neither", events: [], merged: null });
  }

  /** Merge into one event: from the event that was taken, otherwise from what is agreed. */
  function merge() {
    if (mergedNow()) return say("The events are already merged. Change the merged event with the keys or in the form.");
    const { events } = current() ? decisionOf(current()) : {};
    const taken = events?.length === 1 && Object.values(current().events).find(({ id }) => id === events[0]);
    spanNumber = 0;
    decide({ choice: "merged", events: [], merged: { ...(taken || current()?.merged), id: current()?.id } });
  }

  function edit(changes, strokeName = null) {
    if (!mergedNow()) return say("Only a merged event can be changed. Press m to merge the events.");
    decide({ merged: { ...mergedNow(), ...changes } }, strokeName && `${strokeName} ${selected}`);
  }

  /** Change the spans of the merged event, and select the span that has a time. */
  function setSpans(spans, time, strokeName = null) {
    const next = joined(spans);
    spanNumber = spanAt(next, time);
    edit({ spans: next }, strokeName);
  }

  function setEdge(change, time) {
    if (!mergedNow()) return edit({});
    const span = change(clip, spanNow(), time);
    setSpans(mergedNow().spans.map((old) => (old === spanNow() ? span : old)), span.start_s);
  }

  /** While an edge of the merged event is dragged, the picture shows the first or the last frame of the span. */
  function drag(event, number, span, part, isDropped) {
    if (event.id !== resultId(current()?.id) || !mergedNow()) return;
    transport.goTo(part === "end" ? lastTimeIn(clip, span) : span.start_s);
    const spans = mergedNow().spans.map((old, at) => (at === number ? span : old));
    if (!isDropped) return edit({ spans }, `drag ${stroke}`);
    setSpans(spans, span.start_s, `drag ${stroke}`);
    stroke += 1;
  }

  // The server.

  async function submit() {
    const open = clip.disagreements.findIndex(isOpen);
    if (open >= 0) {
      visit(open);
      const need = mergedNow() ? `the merged event needs ${lacks(mergedNow()).join(", ")}` : "this disagreement is not decided";
      return say(`Not submitted: ${need}.`, true);
    }
    if (!(await saver.flush())) return say("Not submitted: the decisions are not saved yet.", true);
    const asked = { base_revision: saver.revision() };
    const answer = await ask(`${clipPath(clip.clip_id)}/submit`, "POST", asked).catch((error) => error);
    if (answer instanceof Error) return say(`Not submitted: ${answer.message}. Reload the page.`, true);
    location.assign(answer.next === null ? "/" : pagePath(answer.next));
  }

  // Keys.

  listenToShortcuts("adjudicate", {
    ...page.keys(playback, transport, picture, tracks),
    take,
    merge,
    separate,
    neither,
    comment: () => comment.focus(),
    nextOpenDisagreement: visitOpen,
    nextDisagreement: () => move(1),
    previousDisagreement: () => move(-1),
    setOnset: () => setEdge(withStart, playback.time()),
    setOffset: () => setEdge(withEnd, frameEnd(clip, frameAt(clip, playback.time()))),
    goOnset: () => spanNow() && transport.goTo(spanNow().start_s),
    goOffset: () => spanNow() && transport.goTo(lastTimeIn(clip, spanNow())),
    loopEvent,
    mergedDimension(number) {
      const dimension = guide.dimensions[number];
      if (!dimension) return say(`There are only ${guide.dimensions.length} dimensions.`);
      edit(mergedNow() ? ofDimension(mergedNow(), dimension.id, guide) : {});
    },
    type: () => (mergedNow() ? form.searchType() : edit({})),
    severity: (number) => edit({ severity: number + 1 }),
    describe: () => (mergedNow() ? form.describe() : edit({})),
    undo: state.undo,
    redo: state.redo,
    submit,
    leave: () => leaveField(playback.stopLoop),
  });

  const firstOpen = clip.disagreements.findIndex(isOpen);
  visit(Math.max(firstOpen, 0));
  readyWithVideo(video);
}

/** The key that takes the event of an annotator, by number; null for the fourth and later ones, who have a button. */
const takeKey = (number) => SHORTCUTS.find(({ id }) => id === "take").keys[number] ?? null;

/** The spans that are decided, or the union of those in dispute while nothing is. */
function spansOf({ events, merged }, decision) {
  if (decision.merged) return decision.merged.spans;
  const taken = Object.values(events).filter(({ id }) => decision.events.includes(id));
  return taken.length ? joined(taken.flatMap(({ spans }) => spans)) : merged.spans;
}

/** The types to explain: the type of the merged event once it is chosen, otherwise all types that annotators chose. */
function typesIn(disagreement, merged) {
  if (merged?.type) return [merged.type];
  return [...new Set(Object.values(disagreement?.events ?? {}).map(({ type }) => type))];
}

/** What is agreed, so that a disputed event can be compared with it. */
function agreedEvents(clip, guide) {
  if (!clip.settled.length) return null;
  const words = (event) => `${guide.type(event.type)?.name}, ${event.spans.map(spanWords).join(", ")}`;
  return make("p", { class: "quiet" }, `Agreed events: ${clip.settled.map(words).join("; ")}.`);
}

const resultId = (id) => `${RESULT} ${id}`;
const namesOf = ({ events }, guide) =>
  [...new Set(Object.values(events).map(({ type }) => guide.type(type)?.name ?? "no type"))].join(" / ");

function choiceWords({ events }, { choice, events: taken }) {
  if (choice !== "events") return choice ?? "open";
  return Object.entries(events)
    .filter(([, { id }]) => taken.includes(id))
    .map(([letter]) => letter)
    .join(" and ");
}

/** The lanes of the timeline: a lane for each annotator, and a lane for the result. */
function createLanes(clip, guide) {
  const lane = (id, name, key, place) => [id, { id, name, key, place }];
  const lanes = new Map([
    ...clip.annotators.map((letter, place) => lane(letter, `annotator ${letter}`, takeKey(place), place)),
    lane(RESULT, RESULT, null, clip.annotators.length),
  ]);
  const result = (event) => ({ ...event, id: resultId(event.id), dimension: RESULT });
  const outcome = (disagreement, { choice, events, merged }) => {
    if (choice === "merged") return [result(merged)];
    return Object.values(disagreement.events).filter(({ id }) => events.includes(id)).map(result);
  };
  return {
    guide: { dimensions: [...lanes.values()], dimension: (id) => lanes.get(id) ?? null, type: guide.type },
    /** All events, each on its lane; `decided` are pairs of a disagreement and its decision. */
    events: (decided) => [
      ...clip.settled.map(result),
      ...decided.flatMap(([disagreement, decision]) => [
        ...Object.entries(disagreement.events).map(([letter, event]) => ({ ...event, dimension: letter })),
        ...outcome(disagreement, decision),
      ]),
    ],
  };
}

/** The events of a disagreement side by side, the reasons for the disagreement, and buttons for the choices. */
function createChoices(clip, guide, { take, merge, separate, neither }) {
  const reasons = make("ul", { class: "reasons" });
  const columns = make("div", { class: "versions" });
  const button = (text, choice, onclick) => make("button", { type: "button", "data-choice": choice, onclick }, text);
  const mergeButton = button("Merge (m)", "merged", merge);
  const separateButton = button("Separate events (s)", "separate", separate);
  const neitherButton = button("Neither (x)", "neither", neither);

  function column(letter, number, disagreement, { events: taken, choice }) {
    const event = disagreement.events[letter];
    if (!event) return make("section", { "aria-label": letter }, make("h3", {}, letter), make("p", {}, "no event"));
    const isTaken = choice === "events" && taken.includes(event.id);
    return make(
      "section",
      { "aria-label": letter },
      make("h3", {}, letter),
      fact(guide.type(event.type)?.name ?? "no type", disagreement.merged.type === null),
      fact(guide.dimension(event.dimension)?.name ?? "no dimension", disagreement.merged.dimension === null),
      fact(`severity ${event.severity}`, disagreement.merged.severity === null),
      fact(event.spans.map(spanWords).join(", "), false),
      make("p", { class: "description" }, event.description || "no description"),
      make(
        "button",
        { type: "button", "aria-pressed": String(isTaken), "data-take": letter, onclick: () => take(number) },
        `Take ${letter}${takeKey(number) ? ` (${takeKey(number)})` : ""}`,
      ),
    );
  }

  const fact = (text, isDisputed) => make("p", {}, make(isDisputed ? "mark" : "span", {}, text));

  return {
    element: make(
      "section",
      { class: "choices", "aria-label": "choices" },
      reasons,
      columns,
      make("div", { class: "buttons" }, mergeButton, separateButton, neitherButton),
    ),
    draw(disagreement, decision) {
      reasons.replaceChildren(...disagreement.reasons.map((reason) => make("li", {}, reason)));
      const { annotators } = clip;
      columns.replaceChildren(...annotators.map((letter, number) => column(letter, number, disagreement, decision)));
      const isOne = Object.keys(disagreement.events).length < 2;
      separateButton.hidden = isOne;
      mergeButton.textContent = isOne ? "Change the event (m)" : "Merge (m)";
      const isSeparate = decision.choice === "events" && decision.events.length > 1;
      mergeButton.setAttribute("aria-pressed", String(decision.choice === "merged"));
      separateButton.setAttribute("aria-pressed", String(isSeparate));
      neitherButton.setAttribute("aria-pressed", String(decision.choice === "neither"));
    },
  };
}
