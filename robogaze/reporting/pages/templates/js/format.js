// Numbers, times and names as text. An unknown value is "not known", never 0.

const number = (value) => value.toLocaleString("en-US");
const known = (value, write = number) => (value === null || value === undefined ? "not known" : write(value));
const dollars = (value) => `$${value.toFixed(value >= 1 || value === 0 ? 2 : 4)}`;
const seconds = (value) => `${value.toFixed(2)} s`;
const share = (part, whole) => `${Math.round((100 * part) / whole)} %`;
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A share of the whole as a CSS percentage. */
const percent = (part, whole) => `${((100 * part) / whole).toFixed(4)}%`;

const spanText = ([start, end]) => `${start.toFixed(2)}–${end.toFixed(2)} s`;
const spansText = (spans) => spans.map(spanText).join(", ");

/** Frame numbers as text, runs joined: 0–3, 8, 12–14. */
function framesText(frames) {
  const runs = [];
  for (const frame of frames) {
    const last = runs.at(-1);
    if (last && frame === last[1] + 1) last[1] = frame;
    else runs.push([frame, frame]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}
