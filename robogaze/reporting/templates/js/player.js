// The clip's moving picture, and the time that everything else follows.
//
// A frame is sought by the middle of the time it is on show, so that rounding never lands on its neighbour. Without
// a video the nearest picture in the page is shown instead, and all but playing works the same. A clip may be a part
// of its file: its time begins where the part does, and playing stops where that ends.

/** Makes the player; `onTime` is called with every new time. */
function createPlayer(clip, { onTime }) {
  let time = 0;
  let spans = null;
  let ownSeek = false;
  const fileStart = clip.start_s ?? 0;
  const isPart = clip.start_s !== null && clip.start_s !== undefined;
  let video = clip.media.video === null ? null : makeVideo(clip);
  const readout = make("output", { class: "readout", "aria-live": "off" });
  const loopButton = make("button", {
    type: "button",
    class: "loop",
    hidden: true,
    onclick: () => loop(null),
  });
  const stage = make("div", { class: "stage", style: { "--ratio": `${clip.width} / ${clip.height}` } });
  const reason = make("p", { class: "quiet reason", hidden: true });
  const element = make(
    "div",
    { class: "player" },
    stage,
    reason,
    make(
      "div",
      { class: "transport" },
      make("button", { type: "button", title: "one frame back (←)", onclick: () => step(-1) }, "◂ frame"),
      make("button", { type: "button", title: "one frame on (→)", onclick: () => step(1) }, "frame ▸"),
      readout,
      loopButton,
    ),
  );

  function attach() {
    stage.replaceChildren(video);
    const onFrame = (_, frame) => {
      if (!video) return;
      arrive(frame.mediaTime - fileStart);
      video.requestVideoFrameCallback(onFrame);
    };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(onFrame);
    else video.addEventListener("timeupdate", () => video && arrive(video.currentTime - fileStart));
    video.addEventListener("seeking", () => {
      if (video && !ownSeek && !within(video.currentTime - fileStart)) loop(null);
    });
    video.addEventListener("seeked", () => {
      ownSeek = false;
    });
    video.addEventListener("ended", () => {
      if (!spans || !video) return;
      seek(spans[0][0]);
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
    show(time);
  }

  /** The video shows the frame of a time; past the end of what repeats it goes on with the next span. */
  function arrive(now) {
    if (ownSeek) return;
    if (isPart && !spans && (now < -1e-3 || now >= clip.duration_s - 1e-3)) {
      video.pause();
      seek(now);
    } else if (within(now)) show(now);
    else seek((spans.find(([start]) => start > now) ?? spans[0])[0]);
  }

  const within = (now) =>
    !spans || spans.some(([start, end]) => now >= frameStart(start) - 1e-3 && now < end - 1e-3);
  const frameStart = (at) => clip.frame_times_s[frameAt(clip, at)];

  function show(now) {
    time = now;
    const frame = frameAt(clip, now);
    readout.textContent = `frame ${frame} of 0–${clip.frame_count - 1} · ${seconds(clip.frame_times_s[frame])}`;
    if (!video) stage.replaceChildren(still(clip, frame));
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
    // play() rejects when a pause or another clip comes between; there is nothing to answer then.
    if (video) video.play().catch(() => {});
  }

  function loop(wanted) {
    spans = wanted;
    loopButton.hidden = !spans;
    loopButton.textContent = spans ? `stop loop ${spansText(spans)}` : "";
  }

  function still(clip, frame) {
    const numbers = Object.keys(clip.media.thumbnails).map(Number);
    if (!numbers.length) return make("p", { class: "quiet" }, "This page holds no picture of this clip.");
    const nearest = numbers.reduce((best, one) =>
      Math.abs(one - frame) < Math.abs(best - frame) ? one : best,
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

  function step(by) {
    if (video) video.pause();
    loop(null);
    const frame = Math.min(Math.max(frameAt(clip, time) + by, 0), clip.frame_count - 1);
    seek(clip.frame_times_s[frame]);
  }

  if (video) {
    attach();
    if (isPart) seek(0);
  } else showStills("This page carries no video of this clip; timeline and pictures work without one.");

  return {
    element,
    step,
    stopLoop: () => loop(null),
    /** Go to a time, stand still there, and repeat nothing. */
    goTo(target) {
      if (video) video.pause();
      loop(null);
      seek(target);
    },
    /** Play spans over and over from their start; stand still there on a single frame, or if motion is unwelcome. */
    repeat(wanted) {
      loop(video && wanted);
      const one = wanted.every(([start, end]) => frameAt(clip, start) === frameAt(clip, end - 1e-4));
      if (video && (one || calm.matches)) video.pause();
      seek(wanted[0][0]);
      if (!one && !calm.matches) play();
    },
    toggle() {
      if (!video) return;
      if (video.paused) play();
      else video.pause();
    },
    close() {
      if (!video) return;
      const old = video;
      video = null; // before it is let go, so that its end counts for nothing
      letGo(old);
    },
  };
}

function makeVideo(clip) {
  const video = make("video", {
    controls: true,
    muted: true,
    playsinline: true,
    preload: "auto",
    src: clip.media.video,
  });
  video.muted = true;
  return video;
}

const describe = (address) => (address.startsWith("data:") ? "the video in this page" : address);
