// Boxes over a picture that fills its frame as far as its shape allows.

/** Rectangles over a picture `ratio` times as wide as high; they follow it however large it is shown. */
function boxLayer(ratio, rectangles) {
  const marks = boxMarks(ratio, rectangles);
  return makeSvg("svg", { class: "boxes", viewBox: `0 0 ${1000 * ratio} 1000`, "aria-hidden": "true" }, marks);
}

/** The same boxes, as marks of a drawing in which the picture is 1000 units high. */
function boxMarks(ratio, rectangles) {
  const width = 1000 * ratio;
  return rectangles.map(({ left, top, right, bottom, exact }) => {
    const at = { x: left * width, y: top * 1000, width: (right - left) * width, height: (bottom - top) * 1000 };
    return makeSvg(
      "g",
      { class: "box", "data-exact": String(exact) },
      makeSvg("rect", { ...at, class: "box-rim" }),
      makeSvg("rect", { ...at, class: "box-line" }),
    );
  });
}

/**
 * How a picture is moved and scaled so that rectangles of it fill about a third of a frame.
 * `size` is the size of the frame, which shows the whole picture in its middle.
 */
function closeUp(size, ratio, rectangles) {
  if (!rectangles.length || !size.width || !size.height) return { dx: 0, dy: 0, scale: 1 };
  const high = Math.min(size.height, size.width / ratio);
  const wide = high * ratio;
  const edge = (pick, name) => pick(...rectangles.map((each) => each[name]));
  const x = (share) => (size.width - wide) / 2 + share * wide;
  const y = (share) => (size.height - high) / 2 + share * high;
  const [left, right] = [x(edge(Math.min, "left")), x(edge(Math.max, "right"))];
  const [top, bottom] = [y(edge(Math.min, "top")), y(edge(Math.max, "bottom"))];
  const fit = 0.35 / Math.max((right - left) / size.width, (bottom - top) / size.height);
  const scale = Math.min(Math.max(fit, 1), 6);
  const move = (middle, whole) => Math.min(0, Math.max(whole * (1 - scale), whole / 2 - scale * middle));
  const [dx, dy] = [move((left + right) / 2, size.width), move((top + bottom) / 2, size.height)];
  return { dx, dy, scale };
}
