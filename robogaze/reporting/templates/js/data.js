// The data of the page: the domain's words, and one clip at a time.

const readJson = (id) => JSON.parse(document.getElementById(id).textContent);

const vocabulary = readJson("vocabulary");
const dimensions = new Map(vocabulary.dimensions.map((dimension) => [dimension.id, dimension]));

/** A dimension by id; one that the domain does not know is shown by its id. */
const dimensionOf = (id) => dimensions.get(id) ?? { id, code: "?", name: id, definition: "", needs: [] };
const typeOf = (id) => vocabulary.types[id] ?? { name: id, definition: "" };

function severityOf(level) {
  if (level === null) return { word: "severity not given", definition: "" };
  const { name, definition } = vocabulary.severity[level];
  return { word: `${level} ${name}`, definition };
}

/** Parse a clip and bring its claims into one form: events, then the hypotheses that became none. */
function readClip(index) {
  const report = readJson(`report-${index}`);
  const media = readJson(`media-${index}`);
  const claim = (kind, keyFrames) => (data, place) => ({
    ...data,
    kind,
    keyFrames: keyFrames[place],
    onset: data.spans[0][0],
    offset: data.spans.at(-1)[1],
  });
  return {
    report,
    media,
    ...report.clip,
    events: report.events.map(claim("event", media.key_frames.events)).sort(byOnset),
    setAside: report.hypotheses
      .map(claim("hypothesis", media.key_frames.hypotheses))
      .filter((one) => one.verdict !== "accepted")
      .sort(byOnset),
  };
}

const byOnset = (a, b) => a.onset - b.onset || a.offset - b.offset;

/** The frame on show at a time. */
function frameAt(clip, time) {
  let low = 0;
  let high = clip.frame_count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (clip.frame_times_s[middle] <= time + 1e-6) low = middle;
    else high = middle - 1;
  }
  return low;
}

const frameEnd = (clip, frame) => clip.frame_times_s[frame + 1] ?? clip.duration_s;

const frameLabel = (clip, frame) => `frame ${frame} · ${seconds(clip.frame_times_s[frame])}`;
