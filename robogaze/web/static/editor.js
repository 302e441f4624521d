// The page of one clip: picture, timeline, events and form, which share the time, the annotation and the selection.

openClip(createEditor);

function createEditor(clip, guide, person, clips) {
  const { mode } = person;
  let errors = []; // of the server, by event
  let isLooping = false;
  let isSubmitted = clip.annotation.status === "submitted";

  const cleanButton = make("button", { type: "button", title: "mark the clip as clean: nothing is wrong (c)" }, "Clean");
  const submitButton = make("button", { type: "button", title: "Ctrl+Enter", onclick: submit }, "Submit");
  const page = createClipPage(clip, guide, person, clips, mode, [cleanButton, submitButton]);
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
  const annotation = createAnnotation(
    { clean: clip.annotation.clean, events: startingEvents(clip.annotation, clip.review) },
    changed,
  );
  const edits = createEdits(clip, annotation, { now: playback.time, onSelect: selectionChanged, say });
  const picture = createPicture(clip, video, { onBox: edits.setBox, onClick: () => transport.toggle() });
  const transport = createTransport(clip, playback, picture);
  const tracks = createTracks(clip, guide, { onSeek: transport.goTo, onSelect: edits.select, onDrag: drag });
  const list = createEventList(guide, { onSelect: visit });
  const facts = createTypeFacts(guide);
  const form = createForm(clip, guide, {
    onChange: edits.update,
    onSpan: (number) => visit(edits.current(), number),
    onVerdict: (verdict) => (verdict === "accepted" ? edits.accept() : reject()),
    onReason: edits.giveReason,
    onDelete: edits.remove,
    onTypeMarked: facts.show,
  });
  cleanButton.onclick = edits.toggleClean;
  const secondsSpent = countWorkTime(clip.annotation.seconds_spent);
  const saver = page.save({
    read: () => ({ ...annotation.state(), seconds_spent: secondsSpent() }),
    onConflict: askWhich,
    onRefused(found) {
      if (!errors.length && !found.length) return;
      errors = found;
      draw();
    },
  });

  page.show(picture, transport, [list.element, form.element, facts.element], "event", tracks);

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
    facts.show(...(type ? [type] : []));
    cleanButton.setAttribute("aria-pressed", String(state.clean));
    submitButton.textContent = isSubmitted ? "Submitted" : "Submit";
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

  function loopEvent() {
    if (isLooping) return transport.goTo(playback.time());
    const event = edits.current();
    if (event?.spans.length) playback.repeat(event.spans.map((span) => [span.start_s, span.end_s]));
  }

  /** While an edge is dragged, the picture shows the first or the last frame of the span. */
  function drag(event, number, span, part, isDropped) {
    transport.goTo(part === "end" ? lastTimeIn(clip, span) : span.start_s);
    edits.drag(event, number, span, isDropped);
  }

  function toggleBox() {
    if (picture.isDrawing()) return endBox();
    const event = edits.current();
    if (!event?.box) edits.setBox({ x: 0.4, y: 0.4, width: 0.2, height: 0.2 });
    if (!event) return;
    picture.setDrawing(true);
    say("Drag on the picture, or move the box with the arrow keys. Shift with an arrow key resizes the box. Press b or Esc to finish.");
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

  // Keys.

  const keys = page.keys(playback, transport, picture, tracks);
  /** A key that moves or resizes the box while it is being drawn, and does something else otherwise. */
  const orBox = (dx, dy, resizes, otherwise) => () =>
    picture.isDrawing() && edits.current()?.box ? picture.nudge(dx, dy, resizes) : otherwise();
  const selectedOr = (act) => () => (edits.current() ? act() : say(NO_EVENT));

  listenToShortcuts(mode, {
    ...keys,
    left: orBox(-1, 0, false, keys.left),
    right: orBox(1, 0, false, keys.right),
    up: orBox(0, -1, false, () => false),
    down: orBox(0, 1, false, () => false),
    narrower: orBox(-1, 0, true, keys.narrower),
    wider: orBox(1, 0, true, keys.wider),
    shorter: orBox(0, -1, true, () => false),
    taller: orBox(0, 1, true, () => false),
    addEvent: () => edits.add(),
    setOnset: () => edits.setOnset(playback.time()),
    setOffset: () => edits.setOffset(frameEnd(clip, frameAt(clip, playback.time()))),
    nextEvent: () => move(1),
    previousEvent: () => move(-1),
    goOnset: () => edits.currentSpan() && transport.goTo(edits.currentSpan().start_s),
    goOffset: () => edits.currentSpan() && transport.goTo(lastTimeIn(clip, edits.currentSpan())),
    loopEvent,
    join: edits.join,
    addSpan: edits.addSpan,
    nextSpan,
    deleteSpan: edits.removeSpan,
    dimension(number) {
      const dimension = guide.dimensions[number];
      if (!dimension) return say(`There are only ${guide.dimensions.length} dimensions.`);
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
    leave: () => leaveField(() => (picture.isDrawing() ? endBox() : playback.stopLoop())),
  });

  follow(0);
  draw();
  readyWithVideo(video);
}
