// A video on the time of its clip: it is sought by frames, and each frame that it shows gives the time.
//
// A frame is sought in the middle of the time for which it is shown, so that rounding never lands on its neighbour. If
// a clip is a part of its file, its time begins at the start of the part, and playing stops at the end of the part.

function makeVideo(clip) {
  const video = make("video", { muted: true, playsinline: true, preload: "auto", src: clip.media.video });
  video.muted = true;
  return video;
}

/**
 * The playback of a video, null for a clip without one, which then only has a time. `onTime` is called with every new
 * time, `onPlaying` with whether the video plays, `onLoop` with what repeats from then on, or null, and `onBroken` if
 * the video cannot be played. `onFrame` is called with every frame that is on the screen, which may be a moment after it
 * was sought. With `betweenFrames` a time that was sought is kept; otherwise it becomes the time of its frame.
 */
function createPlayback(clip, video, { onTime, onPlaying, onLoop, onBroken, onFrame, betweenFrames = false }) {
  let time = 0;
  let loop = null; // what repeats: the windows, and the spans in them
  let ownSeek = false;
  let soughtAt = 0; // in the page's clock
  const fileStart = clip.start_s ?? 0;
  const isPart = clip.start_s !== null && clip.start_s !== undefined;

  function attach() {
    const onPicture = (_, picture) => {
      if (!video) return;
      video.requestVideoFrameCallback(onPicture);
      if (picture.presentationTime < soughtAt) return; // a busy browser reports it after the next seek
      onFrame?.(frameAt(clip, picture.mediaTime - fileStart));
      arrive(picture.mediaTime - fileStart);
    };
    if (video.requestVideoFrameCallback) video.requestVideoFrameCallback(onPicture);
    else video.addEventListener("timeupdate", () => video && arrive(video.currentTime - fileStart));
    for (const name of ["play", "pause"]) video.addEventListener(name, () => onPlaying(!(video?.paused ?? true)));
    video.addEventListener("seeking", () => {
      if (video && !ownSeek && !within(video.currentTime - fileStart)) setLoop(null);
    });
    video.addEventListener("seeked", () => {
      ownSeek = video?.seeking ?? false;
    });
    for (const name of ["loadeddata", "seeked"]) video.addEventListener(name, reportPaused);
    // Another file takes the place of the first: it begins at its start, and no seek of the first file ends.
    video.addEventListener("emptied", () => {
      ownSeek = true;
      video?.addEventListener("loadedmetadata", () => seek(time), { once: true });
    });
    video.addEventListener("ended", () => {
      if (!loop || !video) return;
      seek(loop.windows[0][0]);
      play();
    });
    video.addEventListener("error", () => {
      if (!video) return;
      video = null;
      onBroken();
      show(time);
    });
  }

  /** Report the frame that a paused video has sought. It is drawn two frames of the page later, and not every browser
   * calls back for it.
   */
  function reportPaused() {
    const after = (frames) => {
      if (!video || video.seeking || !video.paused) return;
      if (frames) requestAnimationFrame(() => after(frames - 1));
      else onFrame?.(frameAt(clip, video.currentTime - fileStart));
    };
    after(2);
  }

  /** The video shows the frame of a time; past the end of a window of the loop it continues with the next window. */
  function arrive(now) {
    if (ownSeek || (video.paused && frameAt(clip, now) === frameAt(clip, time))) return;
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
    onTime(now);
  }

  function seek(target) {
    const at = Math.min(Math.max(target, 0), clip.duration_s);
    const frame = frameAt(clip, at);
    if (video) {
      ownSeek = true;
      soughtAt = performance.now();
      video.currentTime = fileStart + (clip.frame_times_s[frame] + frameEnd(clip, frame)) / 2;
    }
    show(betweenFrames ? at : clip.frame_times_s[frame]);
  }

  function play() {
    // play() rejects when a pause or another clip interrupts it; nothing needs to be done then.
    if (video) video.play().catch(() => {});
  }

  function setLoop(wanted) {
    loop = wanted;
    onLoop(loop);
  }

  /** Go to a time, pause there, and end the loop. */
  function goTo(target) {
    if (video) video.pause();
    setLoop(null);
    seek(target);
  }

  if (video) attach();

  return {
    time: () => time,
    video: () => video,
    goTo,
    seek,
    play,
    pause: () => video?.pause(),
    toggle() {
      if (video?.paused) play();
      else video?.pause();
    },
    step(by) {
      const frame = Math.min(Math.max(frameAt(clip, time) + by, 0), clip.frame_times_s.length - 1);
      goTo(clip.frame_times_s[frame]);
    },
    setRate(rate) {
      if (video) video.defaultPlaybackRate = video.playbackRate = rate;
    },
    stopLoop: () => setLoop(null),
    /** Play spans over and over with their context; `more` describes the loop to `onLoop`. */
    repeat(spans, more = {}) {
      const windows = withContext(spans, clip.duration_s);
      setLoop({ windows, spans, ...more });
      seek(windows[0][0]);
      play();
    },
    close() {
      if (!video) return;
      const old = video;
      video = null; // before it is released, so that its end is ignored
      letGo(old);
    },
  };
}
