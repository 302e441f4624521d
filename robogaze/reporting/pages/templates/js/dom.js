// Elements. Text only ever enters the page as text nodes and attributes, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element. `on…` adds a listener, `style` sets properties, null and false leave an attribute out. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [property, set] of Object.entries(value)) element.style.setProperty(property, set);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

function section(title, ...children) {
  return make("section", { class: "part" }, make("h3", {}, title), ...children);
}

/** A section that opens on demand, with a `summary` of its content. */
function folded(title, summary, ...children) {
  return make(
    "details",
    { class: "part" },
    make("summary", {}, make("h3", {}, title), make("span", { class: "quiet" }, summary)),
    ...children,
  );
}

/** A table from a list of heads and rows of cells; a cell is text, a number or an element. Numbers are aligned right. */
function table(heads, rows) {
  const side = heads.map((_, column) =>
    rows.some((row) => typeof row[column] === "number") ? "number" : null,
  );
  const written = (cell) => (typeof cell === "number" ? number(cell) : cell);
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": heads.join(", ") },
    make(
      "table",
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          heads.map((head, column) => make("th", { scope: "col", class: side[column] }, head)),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map((row) =>
          make(
            "tr",
            {},
            row.map((cell, column) => make("td", { class: side[column] }, written(cell))),
          ),
        ),
      ),
    ),
  );
}

/** A severity as a number on its colour. */
function badge(level) {
  const attributes = {
    class: "badge",
    role: "img",
    "data-severity": level ?? "none",
    "aria-label": `severity ${level ?? "not given"}`,
  };
  return make("b", attributes, level ?? "?");
}

/** Whether reduced motion is preferred. */
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Frees the resources of a video; a video that is only removed keeps its file open. */
function letGo(video) {
  video.pause();
  video.removeAttribute("src");
  video.load();
}
