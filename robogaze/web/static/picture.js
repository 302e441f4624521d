// The picture of the clip: all views of a grid or one of them, and the box of the selected event.

const NUDGE = 0.01;
const clampShare = (value) => Math.min(Math.max(value, 0), 1);

/** The picture around a video; `onBox` is called with a box, in shares of the whole picture, that was drawn or moved. */
function createPicture(clip, video, { onBox, onClick }) {
  const ratio = clip.width / clip.height;
  const views = clip.views.length > 1 ? clip.views : [];
  const picture = make("div", { class: "picture" }, video);
  const element = make("div", { class: "stage", style: { "--ratio": `${clip.width} / ${clip.height}` } }, picture);
  let view = null; // one of the views, null for the whole picture
  let box = null;
  let isDrawing = false;
  let corner = null; // where a box that is being drawn began
  new ResizeObserver(arrange).observe(element);

  /** The place of the whole picture in the stage before it is moved. */
  function place() {
    const { clientWidth: width, clientHeight: height } = element;
    const high = Math.min(height, width / ratio);
    const wide = high * ratio;
    return { width, height, wide, high, left: (width - wide) / 2, top: (height - high) / 2 };
  }

  function arrange() {
    const { width, height, wide, high, left, top } = place();
    if (!wide) return;
    const shown = view ?? { x: 0, y: 0, width: clip.width, height: clip.height };
    const [x, y] = [left + (shown.x / clip.width) * wide, top + (shown.y / clip.height) * high];
    const [w, h] = [(shown.width / clip.width) * wide, (shown.height / clip.height) * high];
    const scale = view ? Math.min(width / w, height / h) : 1;
    const [dx, dy] = view ? [(width - w * scale) / 2 - x * scale, (height - h * scale) / 2 - y * scale] : [0, 0];
    picture.style.setProperty("transform", `translate(${dx}px, ${dy}px) scale(${scale})`);
    picture.style.setProperty(
      "clip-path",
      view ? `inset(${y}px ${width - x - w}px ${height - y - h}px ${x}px)` : "none",
    );
    picture.style.setProperty("--scale", scale);
  }

  function draw() {
    picture.querySelector(".boxes")?.remove();
    if (!box) return;
    const { x, y, width, height } = box;
    picture.append(boxLayer(ratio, [{ left: x, top: y, right: x + width, bottom: y + height, exact: true }]));
  }

  /** A point of the page in shares of the whole picture. */
  function shareAt(event) {
    const stage = element.getBoundingClientRect();
    const { wide, high, left, top } = place();
    const moved = new DOMMatrix(getComputedStyle(picture).transform);
    const x = (event.clientX - stage.left - moved.e) / moved.a;
    const y = (event.clientY - stage.top - moved.f) / moved.d;
    return { x: clampShare((x - left) / wide), y: clampShare((y - top) / high) };
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !isDrawing) return;
    element.setPointerCapture(event.pointerId);
    corner = shareAt(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (!corner) return;
    box = between(corner, shareAt(event));
    draw();
  });
  element.addEventListener("pointerup", (event) => {
    if (!corner) return void (isDrawing || onClick());
    const drawn = between(corner, shareAt(event));
    corner = null;
    if (drawn.width > 0.005 && drawn.height > 0.005) onBox(drawn);
  });

  return {
    element,
    hasViews: views.length > 0,
    /** Show the next view alone, after the last all of them; returns the name. */
    nextView() {
      view = views[views.indexOf(view) + 1] ?? null;
      arrange();
      return view?.name ?? "all views";
    },
    setBox(shown) {
      box = shown;
      draw();
    },
    isDrawing: () => isDrawing,
    setDrawing(on) {
      isDrawing = on;
      element.toggleAttribute("data-drawing", on);
    },
    /** Move the box by shares of the picture, or resize it. */
    nudge(dx, dy, resizes) {
      const { x, y, width, height } = box;
      onBox(
        resizes
          ? { x, y, width: clampLength(width + dx * NUDGE, x), height: clampLength(height + dy * NUDGE, y) }
          : {
              x: Math.min(clampShare(x + dx * NUDGE), 1 - width),
              y: Math.min(clampShare(y + dy * NUDGE), 1 - height),
              width,
              height,
            },
      );
    },
  };
}

const clampLength = (length, from) => Math.min(Math.max(length, NUDGE), 1 - from);

const between = (a, b) => ({
  x: Math.min(a.x, b.x),
  y: Math.min(a.y, b.y),
  width: Math.abs(a.x - b.x),
  height: Math.abs(a.y - b.y),
});
