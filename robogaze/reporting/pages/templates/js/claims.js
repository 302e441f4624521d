// Events and hypotheses in words and pictures.

/** A list of claims, each a heading that opens its details; `onSelect(claim)`, `onFrame(claim)(frame)`. */
function createClaims(clip, claims, { onSelect, onFrame }) {
  const items = new Map(claims.map((claim) => [claim, item(clip, claim, onSelect, onFrame(claim))]));
  return {
    element: make("ol", { class: "claims" }, [...items.values()]),
    select(wanted) {
      for (const [claim, element] of items) {
        const chosen = claim === wanted;
        element.toggleAttribute("data-open", chosen);
        element.querySelector("button").setAttribute("aria-expanded", String(chosen));
        if (chosen) bringIntoView(element);
      }
    },
  };
}

/** Scroll the list of a claim, and not the page. */
function bringIntoView(element) {
  const list = element.closest(".findings");
  if (!list) return;
  const head = list.querySelector("h3").offsetHeight;
  list.scrollTop += element.getBoundingClientRect().top - list.getBoundingClientRect().top - head;
}

function item(clip, claim, onSelect, onFrame) {
  const word = claim.kind === "hypothesis" ? claim.shown.verdict : claim.result;
  const verdict = word && make("span", { class: "verdict" }, word);
  const head = make(
    "button",
    { type: "button", "data-claim": claim.id, "aria-expanded": "false", onclick: () => onSelect(claim) },
    badge(claim.severity),
    make("span", { class: "claim-name" }, typeOf(claim.type).name),
    verdict,
    make(
      "span",
      { class: "claim-when" },
      claim.spans.length > 2
        ? `${spanText([claim.onset, claim.offset])} in ${claim.spans.length} parts`
        : spansText(claim.spans),
    ),
  );
  return make("li", { "data-kind": claim.kind }, make("h4", {}, head), details(clip, claim, onFrame));
}

function details(clip, claim, onFrame) {
  const severity = severityOf(claim.severity);
  const dimension = dimensionOf(claim.dimension);
  const also = (claim.secondary ?? []).map((id) => dimensionOf(id).name);
  return make(
    "div",
    { class: "detail" },
    claim.kind === "hypothesis" && make("p", { class: "verdict-reason", dir: "auto" }, verdictOf(claim)),
    claim.note && make("p", { class: "verdict-reason", dir: "auto" }, claim.note),
    make("p", { class: "description", dir: "auto" }, claim.description),
    moments(clip, claim, onFrame),
    make(
      "dl",
      { class: "facts" },
      fact("severity", severity.word, severity.definition),
      fact("confidence", claim.confidence === null ? "not given" : claim.confidence.toFixed(2)),
      fact("dimension", dimension.name, also.length ? `also ${also.join(", ")}` : ""),
      fact("type", claim.type, typeOf(claim.type).definition),
      fact("when", spansText(claim.spans)),
      claim.kind === "hypothesis" && fact("proposed by", claim.proposed_by),
    ),
    claim.evidence.map((evidence) => evidenceBlock(clip, evidence, onFrame)),
  );
}

/** The verdict on a hypothesis that is not an event, and the reason. */
function verdictOf({ shown, merged_into: into }) {
  return [make("b", {}, shown.verdict), into ? ` into ${into}` : "", shown.reason ? `: ${shown.reason}` : ", without a reason"];
}

function fact(term, value, remark = "") {
  return make(
    "div",
    {},
    make("dt", {}, term),
    make("dd", { dir: "auto" }, value, remark && make("span", { class: "quiet" }, ` ${remark}`)),
  );
}

function evidenceBlock(clip, evidence, onFrame) {
  if (!evidence.text) return null; // a place alone: its box is drawn over the pictures
  const where = evidence.view === null || onlyView(clip) !== null ? "" : `, view ${evidence.view}`;
  return make(
    "div",
    { class: "evidence" },
    make(
      "p",
      { dir: "auto" },
      evidence.text,
      make("span", { class: "quiet" }, ` (${evidence.source}${where})`),
    ),
    evidence.frames.length > 0 &&
      make(
        "p",
        { class: "cited" },
        evidence.frames.map((frame) =>
          make(
            "button",
            { type: "button", "aria-label": `enlarge ${frameLabel(clip, frame)}`, onclick: () => onFrame(frame) },
            `frame ${frame}`,
          ),
        ),
      ),
  );
}

/** The sheets that a claim names as evidence and that are there: pictures made of several frames. */
function sheetsOf(clip, claim) {
  const named = [...new Set(claim.evidence.map(({ picture }) => picture))];
  return named
    .map((name) => ({
      address: clip.media.pictures?.[name],
      picture: clip.report.provenance.pictures.find(({ id }) => id === name),
    }))
    .filter(({ address, picture }) => address && picture);
}

/** A sheet, small, as a link to itself; it is loaded when it comes into view. */
function sheetFigure({ address, picture: { frames, width, height } }) {
  const words = `claim sheet, ${plural(frames.length, "frame")} from ${frames[0]} to ${frames.at(-1)}`;
  return make(
    "figure",
    { "data-moment": "sheet" },
    make(
      "a",
      { href: address, target: "_blank", rel: "noopener", title: `open the ${words}` },
      make("img", { src: address, alt: words, loading: "lazy", width, height }),
    ),
    make("figcaption", {}, words),
  );
}

const MOMENTS_SHOWN = 9;

/** At most MOMENTS_SHOWN frames of a claim in order of time: before it, in it, and after it. */
function momentsOf({ keyFrames, evidence }) {
  if (!keyFrames) return [];
  const { before, first, middle, last, after } = keyFrames;
  const cited = evidence.flatMap(({ frames }) => frames);
  const wanted = [first, before, after, ...cited, last, middle].filter((frame) => frame !== null);
  const names = new Map([
    [middle, "middle"],
    [last, "last"],
    [first, "onset"],
    [before, "before"],
    [after, "after"],
  ]);
  return [...new Set(wanted)]
    .slice(0, MOMENTS_SHOWN)
    .sort((a, b) => a - b)
    .map((frame) => ({ frame, name: names.get(frame) ?? "" }));
}

/** These frames as pictures that open large; a frame whose picture is not in the page is a button with words. */
function moments(clip, claim, onFrame) {
  const shown = momentsOf(claim);
  const sheets = sheetsOf(clip, claim);
  if (!shown.length && !sheets.length) return null;
  const side = onlyView(clip) === null ? viewsOf(claim).length || clip.layout.views.filter(Boolean).length : 1;
  return make(
    "div",
    { class: "pictures" },
    shown.map(({ frame, name }) => {
      const label = frameLabel(clip, frame);
      return make(
        "figure",
        { "data-moment": name || "cited", style: { "--side": Math.min(side, 3) } },
        make(
          "button",
          { type: "button", "aria-label": `enlarge ${label}`, title: `enlarge ${label}`, onclick: () => onFrame(frame) },
          clip.media.thumbnails[frame]
            ? thumbnail(clip, claim, frame)
            : make("span", { class: "no-picture" }, "no picture"),
        ),
        make("figcaption", {}, name && `${name} `, make("b", {}, frame), ` ${seconds(clip.frame_times_s[frame])}`),
      );
    }),
    sheets.map(sheetFigure),
  );
}

/** A frame's picture in its own shape, of several views that or those which the evidence names, with its boxes. */
function thumbnail(clip, claim, frame) {
  const named = onlyView(clip) === null ? viewsOf(claim) : [];
  const parts = (named.length ? named : [null]).map((view) => ({ view, ...cutOf(clip, view) }));
  return parts.map(({ view, x, y, width, height }) => {
    const ratio = clip.media.views.picture_ratio;
    const boxes = boxesAt(clip, claim, frame)
      .filter((box) => view === null || box.view === view)
      .map((box) => ({ ...placeOf(clip, box.view, box.box, "picture"), exact: box.exact }))
      .filter(({ left }) => left !== undefined);
    return makeSvg(
      "svg",
      { class: "thumbnail", viewBox: `${x} ${y} ${width} ${height}`, style: { "--shape": width / height } },
      makeSvg("image", { href: clip.media.thumbnails[frame], width: 1000 * ratio, height: 1000, preserveAspectRatio: "none" }),
      boxMarks(ratio, boxes),
    );
  });
}

/** The part of a picture that shows a view, the whole picture for null; the whole picture is 1000 units high. */
function cutOf(clip, view) {
  const ratio = clip.media.views.picture_ratio;
  const { left, top, right, bottom } = (view && placeOf(clip, view, null, "picture")) || { left: 0, top: 0, right: 1, bottom: 1 };
  return {
    x: 1000 * ratio * left,
    y: 1000 * top,
    width: 1000 * ratio * (right - left),
    height: 1000 * (bottom - top),
  };
}
