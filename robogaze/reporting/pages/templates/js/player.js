// The clip's moving picture, with its loop and its buttons.
//
// Without a video the page shows the nearest picture instead, and everything except playing works the same.

/** Makes the player; `onTime` is called with every new time, `onLoop` with what repeats from then on, or null. */
function createPlayer(clip, { onTime, onLoop }) {
  let claim = null; // whose boxes are drawn
  const loopBar = createLoopBar({ onSeek: (at) => playback.seek(at) });
  const speed = createSpeed({ onChange: (rate) => playback.setRate(rate) });
  const screen = createScreenOf(clip);
  const controls = createTransport({
    toggle: () => playback.toggle(),
    step: (by) => playback.step(by),
    speed,
    stopLoop: () => playback.stopLoop(),
    large: () => large.toggle(),
  });
  const reason = make("p", { class: "quiet reason", hidden: true });
  const element = make("div", { class: "player" }, screen.element, loopBar.element, reason, controls.element);
  const large = createLarge(element, {
    onChange(isLarge) {
      controls.setLarge(isLarge);
      screen.arrange();
      if (isLarge) controls.focus();
    },
  });
  controls.setCloseUp(screen.toggleCloseUp);

  const video = clip.media.video === null ? null : makeVideo(clip);
  if (video) {
    screen.put(video);
    video.addEventListener("click", () => playback.toggle());
    video.addEventListener("loadedmetadata", () => screen.setRatio(video.videoWidth / video.videoHeight));
  }
  const playback = createPlayback(clip, video, {
    onTime: show,
    onPlaying: controls.setPlaying,
    onLoop(loop) {
      loopBar.show(loop);
      controls.setLoop(loop);
      onLoop(loop);
    },
    onBroken() {
      const what = describe(clip.media.video);
      explain(`The browser could not play ${what}: the video is missing or has a format that this browser does not support.`);
    },
  });
  playback.setRate(speedNow);

  function explain(why) {
    reason.textContent = why;
    reason.hidden = false;
    controls.setPlayable(false);
  }

  function show(now) {
    const frame = frameAt(clip, now);
    const phase = claim && phaseOf(claim.spans, clip.frame_times_s[frame], frameEnd(clip, frame));
    const plays = playback.video();
    controls.say(clip, frame, phase);
    element.dataset.phase = phase ?? "";
    if (!plays) screen.put(still(clip, frame));
    screen.drawBoxes(claim, frame, plays ? "video" : "picture");
    loopBar.setTime(now);
    onTime(now);
  }

  /** Mark a claim: its boxes and its time. */
  function mark(wanted) {
    claim = wanted;
    element.dataset.severity = claim.severity ?? "none";
    controls.setPlaces(claim.evidence.some((evidence) => evidence.box));
  }

  if (!video) explain("This page has no video of this clip. The timeline and the pictures work without the video.");
  playback.seek(0);

  return {
    element,
    step: playback.step,
    toggle: playback.toggle,
    slower: speed.next,
    enlarge: () => large.toggle(),
    closer: controls.closer,
    /** Leave the large view, or otherwise stop the loop. */
    escape: () => (large.isOn() ? large.set(false) : playback.stopLoop()),
    goTo: playback.goTo,
    /** Show a frame large. */
    showLarge(frame) {
      playback.goTo(clip.frame_times_s[frame]);
      large.set(true);
    },
    /** Show the first frame of a claim, without playing. */
    present(wanted) {
      mark(wanted);
      playback.seek(wanted.onset);
    },
    /** Play a claim over and over with its context; only seek its onset if reduced motion is preferred. */
    repeat(wanted) {
      mark(wanted);
      if (!playback.video() || calm.matches) return playback.goTo(wanted.onset);
      playback.repeat(wanted.spans, { severity: wanted.severity });
    },
    close() {
      large.set(false);
      screen.close();
      playback.close();
    },
  };
}

/** The place of the picture, with the boxes of a claim over it. */
function createScreenOf(clip) {
  const picture = make("div", { class: "picture" });
  const element = make("div", { class: "stage", style: { "--ratio": `${clip.width} / ${clip.height}` } }, picture);
  let ratio = null; // of the video, once it is known
  let drawn = [];
  let isClose = false;
  const resized = new ResizeObserver(arrange);
  resized.observe(element);

  const ratioOf = (of) => (of === "video" && ratio) || clip.media.views[`${of}_ratio`];
  let shape = 1;

  function arrange() {
    const { dx, dy, scale } = closeUp(element.getBoundingClientRect(), shape, isClose ? drawn : []);
    picture.style.setProperty("transform", `translate(${dx}px, ${dy}px) scale(${scale})`);
    picture.style.setProperty("--scale", scale);
  }

  return {
    element,
    arrange,
    put(content) {
      if (picture.firstChild !== content) picture.replaceChildren(content);
    },
    setRatio(known) {
      ratio = known;
      element.style.setProperty("--ratio", `${known}`);
    },
    drawBoxes(claim, frame, of) {
      picture.querySelector(".boxes")?.remove();
      shape = ratioOf(of);
      drawn = (claim ? boxesAt(clip, claim, frame) : [])
        .map(({ box, view, exact }) => ({ ...placeOf(clip, view, box, of), exact }))
        .filter(({ left }) => left !== undefined);
      if (drawn.length) picture.append(boxLayer(shape, drawn));
      if (isClose) arrange();
    },
    toggleCloseUp() {
      isClose = !isClose;
      arrange();
      return isClose;
    },
    close: () => resized.disconnect(),
  };
}

/** The buttons below the picture, and their labels. */
function createTransport({ toggle, step, speed, stopLoop, large }) {
  const button = (text, title, onclick, more = {}) =>
    make("button", { type: "button", title, onclick, ...more }, text);
  const playButton = button("▶ play", "play or pause (Space)", toggle, { class: "play" });
  const largeButton = button("enlarge", "enlarge the picture, or make it small again (z)", large);
  const closeButton = button("close-up", "close-up of the box (c)", null, { hidden: true, "aria-pressed": "false" });
  const loopButton = button("", "stop the loop (Esc)", stopLoop, { class: "loop", hidden: true });
  const readout = make("output", { class: "readout", "aria-live": "off" });
  const phase = make("span", { class: "phase" });
  return {
    element: make(
      "div",
      { class: "transport" },
      playButton,
      button("◂ frame", "previous frame (←)", () => step(-1)),
      button("frame ▸", "next frame (→)", () => step(1)),
      speed.element,
      largeButton,
      closeButton,
      readout,
      phase,
      loopButton,
    ),
    focus: () => playButton.focus({ preventScroll: true, focusVisible: false }),
    setPlayable: (can) => {
      playButton.disabled = !can;
    },
    setPlaying: (isPlaying) => {
      playButton.textContent = isPlaying ? "❚❚ pause" : "▶ play";
    },
    setLarge: (isLarge) => {
      largeButton.textContent = isLarge ? "back" : "enlarge";
    },
    setCloseUp(toggleCloseUp) {
      closeButton.addEventListener("click", () =>
        closeButton.setAttribute("aria-pressed", String(toggleCloseUp())),
      );
    },
    /** Press the button, if it is there. */
    closer: () => closeButton.hidden || closeButton.click(),
    setPlaces: (any) => {
      closeButton.hidden = !any;
    },
    setLoop: (loop) => {
      loopButton.hidden = !loop;
      loopButton.textContent = loop ? `stop loop ${spansText(loop.windows)}` : "";
    },
    say(clip, frame, when) {
      readout.textContent = `frame ${frame} of 0–${clip.frame_count - 1} · ${seconds(clip.frame_times_s[frame])}`;
      phase.textContent = when ? PHASES[when] : "";
      phase.dataset.phase = when ?? "";
    },
  };
}

/** The picture in the page that is nearest to a frame. */
function still(clip, frame) {
  const numbers = Object.keys(clip.media.thumbnails).map(Number);
  if (!numbers.length) return make("p", { class: "quiet" }, "This page has no picture of this clip.");
  const nearest = numbers.reduce((best, each) =>
    Math.abs(each - frame) < Math.abs(best - frame) ? each : best,
  );
  const which =
    nearest === frame ? frameLabel(clip, nearest) : `nearest picture: ${frameLabel(clip, nearest)}`;
  return make(
    "figure",
    {},
    make("img", { src: clip.media.thumbnails[nearest], alt: which }),
    make("figcaption", {}, which),
  );
}

const describe = (address) => (address.startsWith("data:") ? "the video in this page" : address);
