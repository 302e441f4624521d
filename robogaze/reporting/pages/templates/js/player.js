// The clip's moving picture, and the time that everything else follows.
//
// A frame is sought in the middle of the time for which it is shown, so that rounding never lands on its neighbour.
// Without a video the page shows the nearest picture instead, and everything except playing works the same. If a clip
// is a part of its file, its time begins at the start of the part, and playing stops at the end of the part.

/** Makes the player; `onTime` is called with every new time, `onLoop` with what repeats from then on, or null. */
function createPlayer(clip, { onTime, onLoop }) {
  let time = 0;
  let claim = null; // whose boxes are drawn
  let loop = null; // what repeats: the windows, and the claim's own spans
  let ownSeek = false;
  const fileStart = clip.start_s ?? 0;
  const isPart = clip.start_s !== null && clip.start_s !== undefined;
  let video = clip.media.video === null ? null : makeVideo(clip);
  const loopBar = createLoopBar({ onSeek: (at) => seek(at) });
  const speed = createSpeed({ onChange: setRate });
  const screen = createScreenOf(clip);
  const controls = createTransport({ toggle, step, speed, stopLoop: () => setLoop(null), large: () => large.toggle() });
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

  function attach() {
    screen.put(video);
    setRate(speedNow);
    const onFrame = (_, frame) => {
      if (!video) return;
      arrive(frame.mediaTime - fileStart);
      video.requestVideoFrameCallback(onFrame);
    };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(onFrame);
    else video.addEventListener("timeupdate", () => video && arrive(video.currentTime - fileStart));
    video.addEventListener("click", toggle);
    for (const name of ["play", "pause"]) video.addEventListener(name, () => controls.setPlaying(!video?.paused));
    video.addEventListener("loadedmetadata", () => video && screen.setRatio(video.videoWidth / video.videoHeight));
    video.addEventListener("seeking", () => {
      if (video && !ownSeek && !within(video.currentTime - fileStart)) setLoop(null);
    });
    video.addEventListener("seeked", () => {
      ownSeek = false;
    });
    video.addEventListener("ended", () => {
      if (!loop || !video) return;
      seek(loop.windows[0][0]);
      play();
    });
    video.addEventListener("error", () => {
      const what = describe(clip.media.video);
      if (video)
        showStills(`The browser could not play ${what}: it is missing or of a kind not supported here.`);
    });
  }

  function showStills(why) {
    video = null;
    reason.textContent = why;
    reason.hidden = false;
    controls.setPlayable(false);
    show(time);
  }

  /** The video shows the frame of a time; past the end of a window of the loop it continues with the next window. */
  function arrive(now) {
    if (ownSeek) return;
    if (isPart && !loop && (now < -1e-3 || now >= clip.duration_s - 1e-3)) {
      video.pause();
      seek(now);
    } else if (within(now)) show(now);
    else seek((loop.windows.find(([start]) => start > now) ?? loop.windows[0])[0]);
  }

  const within = (now) =>
    !loop || loop.windows.some(([start, end]) => now >= frameStart(start) - 1e-3 && now < end - 1e-3);
  const frameStart = (at) => clip.frame_times_s[frameAt(clip, at)];

  function show(now) {
    time = now;
    const frame = frameAt(clip, now);
    const phase = claim && phaseOf(claim.spans, clip.frame_times_s[frame], frameEnd(clip, frame));
    controls.say(clip, frame, phase);
    element.dataset.phase = phase ?? "";
    if (!video) screen.put(still(clip, frame));
    screen.drawBoxes(claim, frame, video ? "video" : "picture");
    loopBar.setTime(now);
    onTime(now);
  }

  function seek(target) {
    const frame = frameAt(clip, Math.min(Math.max(target, 0), clip.duration_s));
    if (video) {
      ownSeek = true;
      video.currentTime = fileStart + (clip.frame_times_s[frame] + frameEnd(clip, frame)) / 2;
    }
    show(clip.frame_times_s[frame]);
  }

  function play() {
    // play() rejects when a pause or another clip interrupts it; nothing needs to be done then.
    if (video) video.play().catch(() => {});
  }

  function toggle() {
    if (!video) return;
    if (video.paused) play();
    else video.pause();
  }

  function setRate(rate) {
    if (video) video.defaultPlaybackRate = video.playbackRate = rate;
  }

  function setLoop(wanted) {
    loop = wanted;
    loopBar.show(loop);
    controls.setLoop(loop);
    onLoop(loop);
  }

  function step(by) {
    if (video) video.pause();
    setLoop(null);
    const frame = Math.min(Math.max(frameAt(clip, time) + by, 0), clip.frame_count - 1);
    seek(clip.frame_times_s[frame]);
  }

  /** Go to a time, pause there, and end the loop. */
  function goTo(target) {
    if (video) video.pause();
    setLoop(null);
    seek(target);
  }

  /** Mark a claim: its boxes and its time. */
  function mark(wanted) {
    claim = wanted;
    element.dataset.severity = claim.severity ?? "none";
    controls.setPlaces(claim.evidence.some((evidence) => evidence.box));
  }

  if (video) {
    attach();
    if (isPart) seek(0);
  } else showStills("This page has no video of this clip; timeline and pictures work without it.");

  return {
    element,
    step,
    toggle,
    slower: speed.next,
    enlarge: () => large.toggle(),
    closer: controls.closer,
    /** Leave the large view, or otherwise stop the loop. */
    escape: () => (large.isOn() ? large.set(false) : setLoop(null)),
    goTo,
    /** Show a frame large. */
    showLarge(frame) {
      goTo(clip.frame_times_s[frame]);
      large.set(true);
    },
    /** Show the first frame of a claim, without playing. */
    present(wanted) {
      mark(wanted);
      seek(wanted.onset);
    },
    /** Play a claim over and over with its context; only seek its onset if reduced motion is preferred. */
    repeat(wanted) {
      mark(wanted);
      if (!video || calm.matches) return goTo(wanted.onset);
      const windows = withContext(wanted.spans, clip.duration_s);
      setLoop({ windows, spans: wanted.spans, severity: wanted.severity });
      seek(windows[0][0]);
      play();
    },
    close() {
      large.set(false);
      screen.close();
      if (!video) return;
      const old = video;
      video = null; // before it is released, so that its end is ignored
      letGo(old);
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
  const largeButton = button("enlarge", "enlarge or back (z)", large);
  const closeButton = button("close-up", "close-up of the box (c)", null, { hidden: true, "aria-pressed": "false" });
  const loopButton = button("", "stop the loop (Esc)", stopLoop, { class: "loop", hidden: true });
  const readout = make("output", { class: "readout", "aria-live": "off" });
  const phase = make("span", { class: "phase" });
  return {
    element: make(
      "div",
      { class: "transport" },
      playButton,
      button("◂ frame", "one frame back (←)", () => step(-1)),
      button("frame ▸", "one frame on (→)", () => step(1)),
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

function makeVideo(clip) {
  const video = make("video", { muted: true, playsinline: true, preload: "auto", src: clip.media.video });
  video.muted = true;
  return video;
}

const describe = (address) => (address.startsWith("data:") ? "the video in this page" : address);
