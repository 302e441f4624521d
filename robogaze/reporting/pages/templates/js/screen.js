// One of several pictures that a clock drives.

function makeScreenVideo({ side, run, video }) {
  const name = `video ${side}, ${run}`;
  return make("video", { playsinline: true, preload: "auto", src: video, "aria-label": name });
}

/** A clip's picture with its name and frame; `onBroken` is called when its video cannot be played. */
function createScreen(clip, { onClick, onBroken }) {
  const stage = make("div", { class: "stage", style: { "--ratio": "16 / 10" } });
  const where = make("span", { class: "quiet" });
  const element = make(
    "figure",
    { class: "screen" },
    make("figcaption", {}, make("b", {}, clip.side), " ", make("bdi", {}, clip.run), " ", where),
    stage,
  );
  let video = clip.video === null ? null : makeScreenVideo(clip);

  const lacks = (why) => {
    video = null;
    stage.replaceChildren(make("p", { class: "quiet" }, why));
  };

  if (video) {
    video.muted = true;
    stage.append(video);
    video.addEventListener("click", onClick);
    video.addEventListener("loadedmetadata", () =>
      stage.style.setProperty("--ratio", `${video?.videoWidth} / ${video?.videoHeight}`),
    );
    video.addEventListener("error", () => {
      if (!video) return;
      const what = clip.video.startsWith("data:") ? "the video in this page" : clip.video;
      lacks(`The browser could not play ${what}: the video is missing or has a format that this browser does not support.`);
      onBroken();
    });
  } else lacks("This page has no video of this clip.");

  // A clip may be a part of its file.
  const fileStart = clip.start_s;
  const isOver = (time) => time >= clip.duration_s - 1e-3;
  const now = () => video.currentTime - fileStart;

  /** Where a time is sought: in the middle of its frame, so that rounding never lands on its neighbour. */
  function middle(time) {
    if (!clip.frame_times_s.length) return Math.min(time, clip.duration_s);
    const frame = frameAt(clip, time);
    return (clip.frame_times_s[frame] + frameEnd(clip, frame)) / 2;
  }

  /** Pause at the last frame, even if the video is behind the leader, or plays on after the clip's part of it. */
  function rest() {
    if (!video) return;
    video.pause();
    const { length } = clip.frame_times_s;
    const isBefore = length ? frameAt(clip, now()) < length - 1 : now() < clip.duration_s - 0.1;
    const isAfter = now() > clip.duration_s + 1e-3;
    if ((isBefore || isAfter) && !video.ended) video.currentTime = fileStart + middle(clip.duration_s);
  }

  // play() rejects when a pause or another clip interrupts it; nothing needs to be done then.
  const start = () => video.play().catch(() => {});

  return {
    clip,
    element,
    plays: () => video !== null,
    now,
    seeking: () => video.seeking,
    over: () => video.ended || (fileStart > 0 && isOver(now())),
    seek(time) {
      if (video) video.currentTime = fileStart + middle(time);
    },
    play(time) {
      if (!video || isOver(time)) return;
      video.playbackRate = speedNow;
      start();
    },
    setRate(rate) {
      if (video) video.playbackRate = rate;
    },
    pause() {
      if (video) video.pause();
    },
    rest,
    follow(time) {
      if (!video || video.seeking) return;
      if (isOver(time)) return rest();
      if (video.paused) start();
      const off = time - now();
      if (Math.abs(off) > FAR_OFF_S) video.currentTime = fileStart + time;
      else video.playbackRate = speedNow * (1 + off);
    },
    say(time) {
      const frame = clip.frame_times_s.length
        ? `frame ${frameAt(clip, time)} of 0–${clip.frame_times_s.length - 1}`
        : "";
      where.textContent = isOver(time) ? `the clip ended at ${seconds(clip.duration_s)}` : frame;
    },
    close() {
      if (!video) return;
      const old = video;
      video = null; // before it is released, so that its end is ignored
      letGo(old);
    },
  };
}
