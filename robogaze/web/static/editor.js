// The page of one clip: picture, timeline, events and form, which share the time, the annotation and the selection.

const home = document.getElementById("editor");
openClip().catch((error) => {
  const problem = make("p", { class: "problem", role: "alert" }, error.message);
  home.replaceChildren(problem, make("a", { href: "/" }, "Queue"));
  throw error;
});

async function openClip() {
  const id = decodeURIComponent(location.pathname.split("/").at(-1));
  const [guide, clip, queue] = await Promise.all([ask("/api/guide"), ask(clipPath(id)), ask("/api/queue")]);
  askAs(guide.annotator);
  createEditor({ ...clip, media: { video: clip.video } }, createGuide(guide), guide, queue.clips);
}

function createEditor(clip, guide, { mode, annotator }, clips) {
  const place = clips.findIndex((each) => each.clip_id === clip.clip_id);
  let errors = []; // of the server, by event
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
    onFrame: (frame) => transport.setOnScreen(frame),
    onPlaying: (isPlaying) => transport.setPlaying(isPlaying),
    onLoop(loop) {
      isLooping = loop !== null;
      tracks.setLoop(loop);
      transport.setLoop(loop);
    },
    onBroken: () => say("The browser cannot play this video.", true),
  });
  const annotation = createAnnotation(
    { clean: clip.annotation.clean, events: startingEvents(clip.annotation, clip.review) },
    changed,
  );
  const edits = createEdits(clip, annotation, { now: playback.time, onSelect: selectionChanged, say });
  const picture = createPicture(clip, video, { onBox: edits.setBox, onClick: () => transport.toggle() });
  const transport = createTransport(clip, playback, picture);
  const tracks = createTracks(clip, guide, { onSeek: transport.goTo, onSelect: edits.select, onDrag: drag });
  const list = createEventList(guide, { onSelect: visit });
  const form = createForm(clip, guide, {
    onChange: edits.update,
    onSpan: (number) => visit(edits.current(), number),
    onVerdict: (verdict) => (verdict === "accepted" ? edits.accept() : reject()),
    onReason: edits.giveReason,
    onDelete: edits.remove,
  });
  const facts = make("section", { class: "type-facts", "aria-label": "guide" });
  const saved = make("output", { class: "saved", role: "status", "data-state": "saved" });
  const message = make("p", { class: "message", role: "status" });
  const cleanButton = make(
    "button",
    { type: "button", title: "nothing is wrong (c)", onclick: edits.toggleClean },
    "Clean",
  );
  const submitButton = make("button", { type: "button", title: "Ctrl+Enter", onclick: submit }, "Submit");
  const secondsSpent = countWorkTime(clip.annotation.seconds_spent);
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
      make(
        "div",
        { class: "panel", tabindex: "0", role: "region", "aria-label": "event" },
        list.element,
        form.element,
        facts,
      ),
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
    const event = edits.current();
    const type = event && guide.type(event.type);
    list.draw(state, event?.id ?? null, errors);
    tracks.draw(state.events, event?.id ?? null, edits.spanNumber());
    form.element.hidden = !event;
    if (event) form.show(event, edits.spanNumber(), mode === "review");
    picture.setBox(event?.box ?? null);
    facts.replaceChildren(...(type ? guide.typeFacts(type) : guide.basics()));
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

  function changed() {
    isSubmitted = false;
    say("");
    if (!edits.isDragging()) saver.touch();
    draw();
  }

  function selectionChanged() {
    endBox();
    draw();
  }

  // The time and the events.

  /** Select an event, and go to the start of one of its spans. */
  function visit(event, number) {
    edits.select(event, number);
    if (event.spans[number]) transport.goTo(event.spans[number].start_s);
  }

  function move(by) {
    const events = inOrder(annotation.state().events);
    if (!events.length) return;
    const at = events.findIndex((event) => event.id === edits.current()?.id);
    visit(events[at < 0 ? (by > 0 ? 0 : events.length - 1) : (at + by + events.length) % events.length], 0);
  }

  function nextSpan() {
    const event = edits.current();
    if (event?.spans.length) visit(event, (edits.spanNumber() + 1) % event.spans.length);
  }

  const lastTimeIn = (span) => clip.frame_times_s[frameAt(clip, span.end_s - 1e-3)];

  function loopEvent() {
    if (isLooping) return transport.goTo(playback.time());
    const event = edits.current();
    if (event?.spans.length) playback.repeat(event.spans.map((span) => [span.start_s, span.end_s]));
  }

  /** While an edge is dragged, the picture shows the first or the last frame of the span. */
  function drag(event, number, span, part, isDropped) {
    transport.goTo(part === "end" ? lastTimeIn(span) : span.start_s);
    edits.drag(event, number, span, isDropped);
  }

  function toggleBox() {
    if (picture.isDrawing()) return endBox();
    const event = edits.current();
    if (!event?.box) edits.setBox({ x: 0.4, y: 0.4, width: 0.2, height: 0.2 });
    if (!event) return;
    picture.setDrawing(true);
    say("Drag on the picture, or move the box with the arrow keys and resize it with Shift; b or Esc ends it.");
  }

  function endBox() {
    if (!picture.isDrawing()) return;
    picture.setDrawing(false);
    edits.endStroke();
    say("");
  }

  function reject() {
    edits.reject();
    if (edits.current()?.verdict === "rejected") form.giveReason();
  }

  // The server.

  function askWhich(theirs) {
    showConflict(annotation.state(), theirs, guide, {
      onKeep: () => saver.resolve(theirs.revision, true),
      onTake() {
        annotation.change({ clean: theirs.clean, events: startingEvents(theirs, clip.review) });
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
    if (!clean && events.every(isRejected))
      return say("Not submitted: add an event (a), or mark the clip as clean (c).", true);
    saver.touch(); // with the time that was spent since the last change
    if (!(await saver.flush())) return say("Not submitted: the annotation is not saved yet.", true);
    const asked = { base_revision: saver.revision() };
    const answer = await ask(`${clipPath(clip.clip_id)}/submit`, "POST", asked).catch((error) => error);
    if (answer instanceof Error) {
      if (answer.status === 409) return askWhich(answer.answer.annotation);
      errors = answer.answer?.errors ?? [];
      draw();
      return say(`Not submitted: ${answer.message}.`, true);
    }
    isSubmitted = true;
    draw();
    const next = () => location.assign(answer.next === null ? "/" : pagePath(answer.next));
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
    if (next) leave(pagePath(next.clip_id));
    else say(by > 0 ? "This is the last clip of the queue." : "This is the first clip of the queue.");
  }

  const warn = (event) => saver.isSaved() || event.preventDefault();
  addEventListener("beforeunload", warn);

  // Keys.

  /** A key that moves or resizes the box while it is being drawn, and does something else otherwise. */
  const orBox = (dx, dy, resizes, otherwise) => () =>
    picture.isDrawing() && edits.current()?.box ? picture.nudge(dx, dy, resizes) : otherwise();
  const selectedOr = (act) => () => (edits.current() ? act() : say(NO_EVENT));

  listenToShortcuts(mode, {
    play: transport.toggle,
    frameBack: () => transport.step(-1),
    frameOn: () => transport.step(1),
    left: orBox(-1, 0, false, () => transport.step(-1)),
    right: orBox(1, 0, false, () => transport.step(1)),
    up: orBox(0, -1, false, () => false),
    down: orBox(0, 1, false, () => false),
    narrower: orBox(-1, 0, true, () => transport.goTo(playback.time() - 1)),
    wider: orBox(1, 0, true, () => transport.goTo(playback.time() + 1)),
    shorter: orBox(0, -1, true, () => false),
    taller: orBox(0, 1, true, () => false),
    tenthBack: () => transport.stepTenths(-1),
    tenthOn: () => transport.stepTenths(1),
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
    addEvent: () => edits.add(),
    setOnset: () => edits.setOnset(playback.time()),
    setOffset: () => edits.setOffset(frameEnd(clip, frameAt(clip, playback.time()))),
    nextEvent: () => move(1),
    previousEvent: () => move(-1),
    goOnset: () => edits.currentSpan() && transport.goTo(edits.currentSpan().start_s),
    goOffset: () => edits.currentSpan() && transport.goTo(lastTimeIn(edits.currentSpan())),
    loopEvent,
    addSpan: edits.addSpan,
    nextSpan,
    deleteSpan: edits.removeSpan,
    dimension(number) {
      const dimension = guide.dimensions[number];
      if (!dimension) return say(`There are ${guide.dimensions.length} dimensions.`);
      if (edits.current()) edits.update(ofDimension(edits.current(), dimension.id, guide));
      else edits.add({ dimension: dimension.id });
    },
    type: selectedOr(form.searchType),
    severity: (number) => edits.update({ severity: number + 1 }),
    describe: selectedOr(form.describe),
    box: toggleBox,
    deleteBox: () => edits.setBox(null),
    deleteEvent: edits.remove,
    accept: edits.accept,
    reject,
    edit: selectedOr(form.searchType),
    undo: annotation.undo,
    redo: annotation.redo,
    clean: edits.toggleClean,
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
