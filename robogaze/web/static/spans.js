// Spans on the grid of 0.1 s. The end of the clip may be off the grid; a span is at least one step long.

const GRID_S = 0.1;

const toGrid = (time) => Math.round(time * 10) / 10;

/** The grid time nearest to a time at which a span of the clip can start. */
function snapStart(clip, time) {
  const last = (Math.ceil(clip.duration_s * 10 - 1e-6) - 1) / 10;
  return Math.min(Math.max(toGrid(time), 0), Math.max(last, 0));
}

/** The grid time nearest to a time at which a span of the clip can end, or the end of the clip if that is nearer. */
function snapEnd(clip, time) {
  const at = Math.max(toGrid(time), GRID_S);
  return at >= clip.duration_s || clip.duration_s - time < GRID_S / 2 ? clip.duration_s : at;
}

/** The least span from a time on. */
function leastSpan(clip, time) {
  const start_s = snapStart(clip, time);
  return { start_s, end_s: snapEnd(clip, start_s + GRID_S) };
}

/** The span with another start; if it was over by then, the least span from there on. */
function withStart(clip, span, time) {
  const start_s = snapStart(clip, time);
  return start_s < span.end_s - 1e-6 ? { ...span, start_s } : leastSpan(clip, start_s);
}

/** The span with another end; if it had not begun by then, the least span up to there. */
function withEnd(clip, span, time) {
  const end_s = snapEnd(clip, time);
  return end_s > span.start_s + 1e-6 ? { ...span, end_s } : { start_s: snapStart(clip, end_s - GRID_S), end_s };
}

/** The span at another start, as long as before as far as the clip allows. */
function movedTo(clip, span, time) {
  const length = toGrid(span.end_s - span.start_s);
  const start_s = snapStart(clip, Math.min(time, clip.duration_s - length));
  return { start_s, end_s: snapEnd(clip, start_s + length) };
}

/** Spans in order; those that overlap or meet become one. */
function joined(spans) {
  const result = [];
  for (const { start_s, end_s } of [...spans].sort((a, b) => a.start_s - b.start_s)) {
    const last = result.at(-1);
    if (last && start_s <= last.end_s + 1e-6) last.end_s = Math.max(last.end_s, end_s);
    else result.push({ start_s, end_s });
  }
  return result;
}

/** The number of the span that has a time, the first if none has. */
const spanAt = (spans, time) =>
  Math.max(
    spans.findIndex(({ start_s, end_s }) => time >= start_s - 1e-6 && time <= end_s + 1e-6),
    0,
  );

const tenths = (time) => `${toGrid(time).toFixed(1)} s`;
const spanWords = ({ start_s, end_s }) => `${start_s.toFixed(1)}–${end_s.toFixed(1)} s`;
const onsetOf = (event) => event.spans[0]?.start_s ?? 0;
