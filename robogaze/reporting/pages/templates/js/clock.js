// Pictures side by side on one clock.
//
// While they play, the longest clip leads. The others follow at a slightly higher or lower rate, and
// seek when they are far off. A clip that has ended stays at its last frame.

const FAR_OFF_S = 0.3;

/**
 * The axis that clips of different lengths and frames share: it steps where any of them shows another frame, by tenths
 * of a second where no frame is known. Null if no times are known.
 */
function sharedAxis(clips) {
  const ends = clips.flatMap((clip) => [clip.duration_s, ...clip.events.map((event) => event.offset)]);
  const duration = Math.max(...ends.filter(Number.isFinite), 0);
  if (duration === 0) return null;
  const times = clips.flatMap((clip) => clip.frame_times_s).sort((a, b) => a - b);
  const apart = times.filter((time, place) => place === 0 || time - times[place - 1] > 1e-6);
  const tenths = Array.from({ length: Math.ceil(duration * 10) }, (_, tenth) => tenth / 10);
  return { duration_s: duration, axis_s: duration, frame_times_s: apart.length ? apart : tenths };
}

/** The player of some clips; `onTime` is called with every new time, `onLoop` with what repeats, or null. */
function createClock(clips, axis, { onTime, onLoop }) {
  const screens = clips.map((clip) => createScreen(clip, { onClick: toggle, onBroken: describeLack }));
  const playButton = make("button", { type: "button", class: "play", onclick: toggle }, "▶ play");
  const loopButton = make("button", {
    type: "button",
    class: "loop",
    hidden: true,
    onclick: () => loop(null),
  });
  const speed = createSpeed({ onChange: (rate) => screens.forEach((screen) => screen.setRate(rate)) });
  const readout = make("output", { class: "readout", "aria-live": "off" });
  let time = 0;
  let span = null; // what repeats
  let ticking = null;

  function leader() {
    const playing = screens.filter((screen) => screen.plays());
    return playing.sort((a, b) => b.clip.duration_s - a.clip.duration_s)[0];
  }

  function describeLack() {
    if (leader()) return;
    pause();
    playButton.disabled = true;
    playButton.title = "this page contains no video of these clips";
  }

  function tick() {
    ticking = requestAnimationFrame(tick);
    const lead = leader();
    if (!lead || lead.seeking()) return;
    const now = lead.now();
    if (span && now >= span[1]) return seek(span[0]);
    if (lead.over()) {
      pause();
      if (span) return repeatSpan();
      for (const screen of screens) screen.rest();
      return show(axis.duration_s);
    }
    for (const screen of screens) if (screen !== lead) screen.follow(now);
    show(now);
  }

  function show(now) {
    time = now;
    readout.textContent = `${seconds(now)} of ${seconds(axis.duration_s)}`;
    for (const screen of screens) screen.say(now);
    onTime(now);
  }

  function seek(target) {
    const at = Math.min(Math.max(target, 0), axis.duration_s);
    for (const screen of screens) screen.seek(at);
    show(axis.frame_times_s[frameAt(axis, at)]);
  }

  function play() {
    if (!leader()) return;
    if (time >= leader().clip.duration_s - 1e-3) seek(span ? span[0] : 0);
    for (const screen of screens) screen.play(time);
    playButton.textContent = "❚❚ pause";
    if (ticking === null) tick();
  }

  function pause() {
    cancelAnimationFrame(ticking);
    ticking = null;
    for (const screen of screens) screen.pause();
    playButton.textContent = "▶ play";
  }

  function toggle() {
    if (ticking === null) return play();
    pause();
    seek(time);
  }

  function loop(wanted) {
    span = wanted && withContext([wanted], axis.duration_s)[0];
    loopButton.hidden = !span;
    loopButton.textContent = span ? `stop loop ${spanText(span)}` : "";
    onLoop(span && { windows: [span], spans: [wanted] });
  }

  function repeatSpan() {
    seek(span[0]);
    play();
  }

  function goTo(target) {
    pause();
    loop(null);
    seek(target);
  }

  const step = (by) => {
    const frame = frameAt(axis, time) + by;
    goTo(axis.frame_times_s[Math.min(Math.max(frame, 0), axis.frame_times_s.length - 1)]);
  };

  describeLack();
  return {
    element: make(
      "div",
      { class: "player" },
      make(
        "div",
        { class: "screens" },
        screens.map((screen) => screen.element),
      ),
      make(
        "div",
        { class: "transport" },
        playButton,
        make("button", { type: "button", title: "previous frame (←)", onclick: () => step(-1) }, "◂ frame"),
        make("button", { type: "button", title: "next frame (→)", onclick: () => step(1) }, "frame ▸"),
        speed.element,
        readout,
        loopButton,
      ),
    ),
    toggle,
    step,
    goTo,
    slower: speed.next,
    escape: () => loop(null),
    /** Play a span over and over with its context; only seek its start if reduced motion is preferred. */
    repeat(wanted) {
      goTo(wanted[0]);
      if (calm.matches || !leader()) return;
      loop(wanted);
      repeatSpan();
    },
    close() {
      pause();
      for (const screen of screens) screen.close();
    },
  };
}
