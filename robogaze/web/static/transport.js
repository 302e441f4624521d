// How the clip plays: forwards and backwards, how fast, and the buttons for it.

const PLAY_SPEEDS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4];
const FASTEST = PLAY_SPEEDS.at(-1);
const SPEED_KEY = "robogaze speed";

/** The buttons below the picture, and what the keys for them do. */
function createTransport(clip, playback, picture) {
  let speed = PLAY_SPEEDS.find((each) => String(each) === localStorage.getItem(SPEED_KEY)) ?? 1;
  let shuttle = 0; // times the speed; negative while it plays backwards
  let ticking = null;
  let onScreen = null; // the number of a frame
  const button = (text, title, onclick, more = {}) => make("button", { type: "button", title, onclick, ...more }, text);
  const playButton = button("▶ play", "play or pause (Space)", toggle, { class: "play" });
  const speedText = make("output", { class: "speed", "aria-label": "speed" });
  const readout = make("output", { class: "readout", "aria-live": "off", "aria-label": "time" });
  const viewButton = button("all views", "next view (v)", nextView, { hidden: !picture.hasViews });
  const stopButton = button("stop loop", "stop the loop (Esc)", () => playback.stopLoop(), {
    class: "loop",
    hidden: true,
  });

  function setSpeed(next) {
    speed = next;
    localStorage.setItem(SPEED_KEY, String(speed));
    speedText.textContent = `${speed}×`;
    playback.setRate(Math.min(speed * Math.max(shuttle, 1), FASTEST));
  }

  const changeSpeed = (by) => setSpeed(PLAY_SPEEDS[PLAY_SPEEDS.indexOf(speed) + by] ?? speed);

  function setShuttle(times) {
    shuttle = times;
    cancelAnimationFrame(ticking);
    playback.setRate(Math.min(speed * Math.max(times, 1), FASTEST));
    if (times < 0) playback.pause();
    playButton.textContent = times === 0 ? "▶ play" : times < 0 ? `◀ ${-times}×` : "❚❚ pause";
  }

  function pause() {
    setShuttle(0);
    playback.pause();
  }

  function toggle() {
    if (!playback.video()) return;
    if (shuttle !== 0) return pause();
    setShuttle(1);
    playback.play();
  }

  function playBack() {
    if (!playback.video()) return;
    setShuttle(shuttle < 0 ? Math.max(shuttle * 2, -FASTEST) : -1);
    let last = performance.now();
    let at = playback.time();
    const tick = (now) => {
      at -= ((now - last) / 1000) * speed * -shuttle;
      last = now;
      if (!playback.video().seeking) playback.seek(at);
      if (at <= 0) return pause();
      ticking = requestAnimationFrame(tick);
    };
    ticking = requestAnimationFrame(tick);
  }

  function playOn() {
    if (!playback.video()) return;
    setShuttle(shuttle > 0 ? Math.min(shuttle * 2, FASTEST) : 1);
    playback.play();
  }

  function nextView() {
    viewButton.textContent = picture.nextView();
  }

  /** Pause, and go to a time. */
  function goTo(time) {
    setShuttle(0);
    playback.goTo(time);
  }

  function step(by) {
    setShuttle(0);
    playback.step(by);
  }

  /** Until the frame that was sought is on the screen, its number is dimmed. */
  const mark = () => readout.toggleAttribute("data-waiting", frameAt(clip, playback.time()) !== onScreen);

  setSpeed(speed);
  return {
    element: make(
      "div",
      { class: "transport" },
      playButton,
      button("◂ frame", "previous frame (,)", () => step(-1)),
      button("frame ▸", "next frame (.)", () => step(1)),
      make(
        "span",
        { class: "speeds" },
        button("−", "slower (-)", () => changeSpeed(-1), { "aria-label": "slower" }),
        speedText,
        button("+", "faster (=)", () => changeSpeed(1), { "aria-label": "faster" }),
      ),
      viewButton,
      readout,
      stopButton,
    ),
    toggle,
    pause,
    playBack,
    playOn,
    step,
    goTo,
    nextView,
    slower: () => changeSpeed(-1),
    faster: () => changeSpeed(1),
    normalSpeed: () => setSpeed(1),
    /** Go by a number of steps of 0.1 s, to the grid. */
    stepTenths(by) {
      const tenth = playback.time() * 10;
      goTo((by > 0 ? Math.floor(tenth + 1e-6) + by : Math.ceil(tenth - 1e-6) + by) / 10);
    },
    /** The video began to play or paused by itself. */
    setPlaying(isPlaying) {
      if (shuttle < 0) return;
      if (!isPlaying) setShuttle(0);
      else if (shuttle === 0) setShuttle(1);
    },
    setLoop(loop) {
      stopButton.hidden = !loop;
    },
    say(time) {
      readout.textContent = timeWords(clip, time);
      mark();
    },
    /** This frame is on the screen now. */
    setOnScreen(frame) {
      onScreen = frame;
      mark();
    },
  };
}

/** A time as the annotator writes it: 3.4 s · frame 55 of 139. Frames are counted from 0. */
const timeWords = (clip, time) => `${tenths(time)} · frame ${frameAt(clip, time)} of ${clip.frame_times_s.length}`;
