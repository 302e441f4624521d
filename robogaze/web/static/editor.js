// The page of one clip: picture, timeline, events and form, which share the time, the annotation and the selection.

const home = document.getElementById("editor");
openClip().catch((error) => {
  home.replaceChildren(make("p", { class: "problem", role: "alert" }, error.message), make("a", { href: "/" }, "Queue"));
  throw error;
});

async function openClip() {
  const id = decodeURIComponent(location.pathname.split("/").at(-1));
  const [guide, clip, queue] = await Promise.all([ask("/api/guide"), ask(clipPath(id)), ask("/api/queue")]);
  askAs(guide.annotator);
  createEditor({ ...clip, media: { video: clip.video } }, createGuide(guide), guide, queue.clips);
}

function createEditor(clip, guide, { mode, annotator }, clips) {
  const isReview = mode === "review";
  const place = clips.findIndex((each) => each.clip_id === clip.clip_id);
  let selected = null; // id of an event
  let spanNumber = 0;
  let errors = []; // of the server, by event
  let drags = 0;
  let isDragging = false;
  let isLooping = false;
  let isSubmitted = clip.annotation.status === "submitted";

  const video = makeVideo(clip);
  video.setAttribute("aria-label", "the clip");
  video.addEventListener("error", (event) => {
    if (video.getAttribute("src") !== clip.video) return;
    event.stopImmediatePropagation(); // the server's own copy is tried before the video counts as broken
    video.src = `${clip.video}?proxy=1`;
  });
  const playback = createPlayback(clip, video, {
    betweenFrames: true,
    onTime: (time) => follow(time),
    onPlaying: (isPlaying) => transport.setPlaying(isPlaying),
    onLoop(loop) {
      isLooping = loop !== null;
      tracks.setLoop(loop);
      transport.setLoop(loop);
    },
    onBroken: () => say("The browser cannot play this video.", true),
  });
  const picture = createPicture(clip, video, { onBox: setBox, onClick: () => transport.toggle() });
  const transport = createTransport(clip, playback, picture);
  const tracks = createTracks(clip, guide, { onSeek: transport.goTo, onSelect: select, onDrag: drag });
  const list = createEventList(guide, { onSelect: (event, number) => visit(event, number) });
  const form = createForm(clip, guide, {
    onChange: (changes, stroke = null) => update(changes, stroke),
    onSpan: (number) => visit(current(), number),
    onVerdict: (verdict) => (verdict === "accepted" ? accept() : reject()),
    onReason: (reason, stroke) => setOnEvent({ reason }, stroke),
    onDelete: deleteEvent,
  });
  const facts = make("section", { class: "type-facts", "aria-label": "guide" });
  const saved = make("output", { class: "saved", role: "status", "data-state": "saved" });
  const message = make("p", { class: "message", role: "status" });
  const cleanButton = make("button", { type: "button", title: "nothing is wrong (c)", onclick: toggleClean }, "Clean");
  const submitButton = make("button", { type: "button", title: "Ctrl+Enter", onclick: submit }, "Submit");

  const secondsSpent = countWorkTime(clip.annotation.seconds_spent);
  const annotation = createAnnotation(
    { clean: clip.annotation.clean, events: startingEvents(clip.annotation, clip.review) },
    changed,
  );
  const saver = createSaver(clip.clip_id, clip.annotation.revision, {
    read: () => ({ ...annotation.state(), seconds_spent: secondsSpent() }),
    onState: showSaved,
    onConflict: askWhich,
    onRefused(found) {
      if (!errors.length && !found.length) return;
      errors = found;
      draw();
    },
  });

  const current = () => annotation.state().events.find((event) => event.id === selected) ?? null;
  const currentSpan = () => current()?.spans[spanNumber] ?? null;
  const shownFrame = () => frameAt(clip, playback.time());

  // What is on the page.

  home.replaceChildren(
    make(
      "header",
      { class: "bar-top" },
      make("a", { href: "/", title: "q", onclick: (event) => (event.preventDefault(), leave("/")) }, "Queue"),
      make("h1", {}, make("bdi", {}, clip.clip_id)),
      make("span", { class: "quiet" }, place < 0 ? "" : `${place + 1} of ${clips.length} · ${annotator}`),
      saved,
      cleanButton,
      submitButton,
      make("button", { type: "button", onclick: guide.show }, "Guide (g)"),
      make("button", { type: "button", onclick: () => showShortcuts(mode) }, "Keys (?)"),
    ),
    clip.instruction
      ? make("p", { class: "instruction", dir: "auto" }, clip.instruction)
      : make("p", { class: "quiet" }, "No instruction was given for this clip."),
    make(
      "div",
      { class: "player-and-events" },
      make("div", { class: "player" }, picture.element, transport.element, message),
      make("div", { class: "panel", tabindex: "0", role: "region", "aria-label": "event" }, list.element, form.element, facts),
    ),
    tracks.element,
  );
  document.title = `${clip.clip_id} – RoboGaze`;

  function follow(time) {
    transport.say(time);
    tracks.setTime(time);
    picture.element.dataset.frame = frameAt(clip, time);
  }

  function draw() {
    const state = annotation.state();
    const event = current();
    spanNumber = Math.min(spanNumber, Math.max((event?.spans.length ?? 1) - 1, 0));
    list.draw(state, selected, errors);
    tracks.draw(state.events, selected, spanNumber);
    form.element.hidden = !event;
    if (event) form.show(event, spanNumber, isReview);
    picture.setBox(event?.box ?? null);
    const type = event && guide.type(event.type);
    facts.replaceChildren(...(type ? [make("h3", {}, type.name), guide.typeFacts(type)] : guide.basics()).flat(Infinity).filter(Boolean));
    cleanButton.setAttribute("aria-pressed", String(state.clean));
    submitButton.textContent = isSubmitted ? "Submitted" : "Submit";
  }

  function say(text, isProblem = false) {
    message.textContent = text;
    message.toggleAttribute("data-problem", isProblem);
  }

  function showSaved(state, why) {
    saved.dataset.state = state;
    saved.textContent = { saved: "Saved", saving: "Saving …", unsaved: "Not saved" }[state] + (why ? `: ${why}` : "");
  }

  // The annotation.

  function changed() {
    isSubmitted = false;
    say("");
    if (!isDragging) saver.touch();
    draw();
  }

  function update(changes, stroke = null) {
    const event = current();
    if (!event) return say("Select an event first: n for the next one, a for a new one.");
    annotation.change({ events: withEvent(annotation.state().events, edited(event, changes)), clean: false }, stroke);
  }

  /** Change the spans of the event; the chosen span is then the one at `time`. */
  function setSpans(spans, time) {
    const next = joined(spans);
    spanNumber = Math.max(next.findIndex((span) => time >= span.start_s - 1e-6 && time <= span.end_s + 1e-6), 0);
    update({ spans: next });
  }

  function setEdge(change, time) {
    const event = current();
    if (!event) return update({});
    const old = currentSpan();
    const span = old ? change(clip, old, time) : leastSpan(clip, time);
    setSpans([...event.spans.filter((each) => each !== old), span], span.start_s);
  }

  function addEvent(changes = {}) {
    const { events } = annotation.state();
    const event = { ...newEvent(events, leastSpan(clip, playback.time())), ...changes };
    [selected, spanNumber] = [event.id, 0];
    annotation.change({ events: [...events, event], clean: false });
  }

  function deleteEvent() {
    const event = current();
    if (!event) return update({});
    if (event.origin !== "person") return say("A model's event is rejected (x), not deleted.", true);
    selected = null;
    annotation.change({ events: annotation.state().events.filter((each) => each !== event) });
  }

  function addSpan() {
    const event = current();
    if (!event) return update({});
    const span = leastSpan(clip, playback.time());
    const meets = (other) => span.start_s <= other.end_s + 1e-6 && span.end_s >= other.start_s - 1e-6;
    if (event.spans.some(meets)) return say("A span of this event is here already; go to a time outside it.");
    setSpans([...event.spans, span], span.start_s);
  }

  function deleteSpan() {
    const event = current();
    if (!event) return update({});
    if (event.spans.length < 2) return say("An event needs a span; Delete deletes the event.");
    setSpans(event.spans.filter((_, number) => number !== spanNumber), -1);
  }

  function drag(event, number, span, part, isDropped) {
    const now = annotation.state().events.find(({ id }) => id === event.id);
    const spans = now.spans.map((old, at) => (at === number ? span : old));
    isDragging = !isDropped;
    if (isDropped) spanNumber = Math.max(joined(spans).findIndex(({ end_s }) => end_s >= span.end_s), 0);
    transport.goTo(part === "end" ? lastTimeIn(span) : span.start_s);
    update({ spans: isDropped ? joined(spans) : spans }, `drag ${drags}`);
    if (isDropped) drags += 1;
  }

  const lastTimeIn = (span) => clip.frame_times_s[frameAt(clip, span.end_s - 1e-3)];

  function setBox(box) {
    update({ box: { ...box, time_s: toGrid(playback.time()) } }, `box ${drags}`);
  }

  function toggleBox() {
    if (picture.isDrawing()) return endBox();
    if (!current()) return update({});
    picture.setDrawing(true);
    say("Drag on the picture, or move the box with the arrow keys and resize it with Shift; b or Esc ends it.");
    if (!current().box) setBox({ x: 0.4, y: 0.4, width: 0.2, height: 0.2 });
  }

  function endBox() {
    picture.setDrawing(false);
    drags += 1;
    say("");
  }

  function toggleClean() {
    const { clean, events } = annotation.state();
    if (!clean && events.some((event) => !isRejected(event)))
      return say("A clip with events is not clean: delete or reject them first.", true);
    annotation.change({ clean: !clean });
  }

  // The selection.

  function select(event, number) {
    if (selected === event.id && spanNumber === number) return;
    [selected, spanNumber] = [event.id, number];
    if (picture.isDrawing()) endBox();
    draw();
  }

  /** Select an event, and go to the start of one of its spans. */
  function visit(event, number) {
    select(event, number);
    if (event.spans[number]) transport.goTo(event.spans[number].start_s);
  }

  function move(by) {
    const events = inOrder(annotation.state().events);
    if (!events.length) return;
    const at = events.findIndex((event) => event.id === selected);
    visit(events[at < 0 ? (by > 0 ? 0 : events.length - 1) : (at + by + events.length) % events.length], 0);
  }

  function nextSpan() {
    const event = current();
    if (event?.spans.length) visit(event, (spanNumber + 1) % event.spans.length);
  }

  function loopEvent() {
    if (isLooping) return transport.goTo(playback.time());
    const event = current();
    if (event?.spans.length) playback.repeat(event.spans.map((span) => [span.start_s, span.end_s]));
  }

  // Review.

  function accept() {
    const event = current();
    if (!event || event.origin === "person") return say("Only an event of the model is accepted or rejected.");
    setOnEvent({ verdict: event.origin === "edited" ? "edited" : "accepted" });
  }

  function reject() {
    const event = current();
    if (!event || event.origin === "person") return say("Only an event of the model is accepted or rejected.");
    setOnEvent({ verdict: "rejected" });
    form.giveReason();
  }

  /** What a reviewer says about the model's event, which does not edit it. */
  function setOnEvent(changes, stroke = null) {
    const { events, clean } = annotation.state();
    const event = { ...current(), ...changes };
    annotation.change({ events: withEvent(events, event), clean: clean && isRejected(event) }, stroke);
  }

  // The server.

  function askWhich(theirs) {
    showConflict(annotation.state(), theirs, guide, {
      onKeep: () => saver.resolve(theirs.revision, true),
      onTake() {
        isDragging = true; // what the other window saved needs no saving
        annotation.change({ clean: theirs.clean, events: startingEvents(theirs, clip.review) });
        isDragging = false;
        isSubmitted = theirs.status === "submitted";
        saver.resolve(theirs.revision, false);
        draw();
      },
    });
  }

  async function submit() {
    const { events, clean } = annotation.state();
    const unfinished = inOrder(events).find((event) => lacks(event).length);
    if (unfinished) {
      visit(unfinished, 0);
      return say(`Not submitted: this event needs ${lacks(unfinished).join(", ")}.`, true);
    }
    if (!clean && events.every(isRejected)) return say("Not submitted: add an event (a), or mark the clip as clean (c).", true);
    if (!(await saver.flush())) return say("Not submitted: the annotation is not saved yet.", true);
    const answer = await ask(`${clipPath(clip.clip_id)}/submit`, "POST", { base_revision: saver.revision() }).catch(
      (error) => error,
    );
    if (answer instanceof Error) {
      if (answer.status === 409) return askWhich(answer.answer.annotation);
      errors = answer.answer?.errors ?? [];
      draw();
      return say(`Not submitted: ${answer.message}.`, true);
    }
    isSubmitted = true;
    draw();
    const next = () => location.assign(answer.next === null ? "/" : `/clips/${encodeURIComponent(answer.next)}`);
    if (answer.feedback) showFeedback(answer.feedback, events, guide, next);
    else next();
  }

  async function leave(path) {
    if (await saver.flush()) return location.assign(path);
    showDialog("Not saved", make("p", {}, "The last changes are not saved. They are lost if you leave now."), {
      Stay: () => {},
      "Leave without saving": () => {
        removeEventListener("beforeunload", warn);
        location.assign(path);
      },
    });
  }

  function goToClip(by) {
    const next = clips[place + by];
    if (next) leave(`/clips/${encodeURIComponent(next.clip_id)}`);
  }

  const warn = (event) => saver.isSaved() || event.preventDefault();
  addEventListener("beforeunload", warn);

  // Keys.

  const boxKey = (dx, dy, resizes, otherwise) => () =>
    picture.isDrawing() && current()?.box ? picture.nudge(dx, dy, resizes) : otherwise?.();
  listenToArrows();

  /** Up and down move a box; for nothing else are they keys of the table. */
  function listenToArrows() {
    addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by || !picture.isDrawing() || event.target.closest("input, textarea, select")) return;
      event.preventDefault();
      boxKey(0, by, event.shiftKey)();
    });
  }

  listenToShortcuts(mode, {
    play: transport.toggle,
    frameBack: boxKey(-1, 0, false, () => transport.step(-1)),
    frameOn: boxKey(1, 0, false, () => transport.step(1)),
    tenthBack: () => transport.stepTenths(-1),
    tenthOn: () => transport.stepTenths(1),
    secondBack: boxKey(-1, 0, true, () => transport.goTo(playback.time() - 1)),
    secondOn: boxKey(1, 0, true, () => transport.goTo(playback.time() + 1)),
    firstFrame: () => transport.goTo(0),
    lastFrame: () => transport.goTo(clip.frame_times_s.at(-1)),
    playBack: transport.playBack,
    pause: transport.pause,
    playOn: transport.playOn,
    slower: transport.slower,
    faster: transport.faster,
    normalSpeed: transport.normalSpeed,
    nextView: () => (picture.hasViews ? transport.nextView() : say("This clip has one view.")),
    zoomIn: tracks.zoomIn,
    zoomOut: tracks.zoomOut,
    addEvent: () => addEvent(),
    setOnset: () => setEdge(withStart, playback.time()),
    setOffset: () => setEdge(withEnd, frameEnd(clip, shownFrame())),
    nextEvent: () => move(1),
    previousEvent: () => move(-1),
    goOnset: () => currentSpan() && transport.goTo(currentSpan().start_s),
    goOffset: () => currentSpan() && transport.goTo(lastTimeIn(currentSpan())),
    loopEvent,
    addSpan,
    nextSpan,
    deleteSpan,
    dimension(number) {
      const dimension = guide.dimensions[number];
      if (!dimension) return say(`There are ${guide.dimensions.length} dimensions.`);
      if (current()) update(ofDimension(current(), dimension.id, guide));
      else addEvent({ dimension: dimension.id });
    },
    type: () => (current() ? form.searchType() : update({})),
    severity: (number) => update({ severity: number + 1 }),
    describe: () => (current() ? form.describe() : update({})),
    box: toggleBox,
    deleteBox: () => update({ box: null }),
    deleteEvent,
    accept,
    reject,
    edit: () => (current() ? form.searchType() : update({})),
    undo: annotation.undo,
    redo: annotation.redo,
    clean: toggleClean,
    submit,
    nextClip: () => goToClip(1),
    previousClip: () => goToClip(-1),
    queue: () => leave("/"),
    guide: guide.show,
    leave() {
      if (document.activeElement?.matches("input, textarea, select")) return document.activeElement.blur();
      if (picture.isDrawing()) return endBox();
      playback.stopLoop();
    },
    help: () => showShortcuts(mode),
  });

  if (clip.annotation.revision) showSaved("saved", "");
  follow(0);
  draw();
  // Frames can be shown and marked once the first is there.
  const makeReady = () => home.toggleAttribute("data-ready", true);
  if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) makeReady();
  else for (const name of ["loadeddata", "error"]) video.addEventListener(name, makeReady, { once: true });
}
