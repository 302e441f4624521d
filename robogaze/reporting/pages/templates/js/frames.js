// The frames of a clip and their times.

/** The frame that is shown at a time. */
function frameAt(clip, time) {
  let low = 0;
  let high = clip.frame_times_s.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (clip.frame_times_s[middle] <= time + 1e-6) low = middle;
    else high = middle - 1;
  }
  return low;
}

const frameEnd = (clip, frame) => clip.frame_times_s[frame + 1] ?? clip.duration_s;

const frameLabel = (clip, frame) => `frame ${frame} · ${seconds(clip.frame_times_s[frame])}`;
