// Events and set-aside hypotheses in words and pictures.

/** A list of claims, each a heading that opens its details; `onSelect(claim)`, `onFrame(frame)`. */
function createClaims(clip, claims, { onSelect, onFrame }) {
  const items = new Map(claims.map((claim) => [claim, item(clip, claim, onSelect, onFrame)]));
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

/** Scroll the list a claim stands in, and not the page. */
function bringIntoView(element) {
  const list = element.closest(".findings");
  if (!list) return;
  const head = list.querySelector("h3").offsetHeight;
  list.scrollTop += element.getBoundingClientRect().top - list.getBoundingClientRect().top - head;
}

function item(clip, claim, onSelect, onFrame) {
  const verdict = claim.kind === "hypothesis" && make("span", { class: "verdict" }, claim.verdict);
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
  const cited = new Set(claim.evidence.flatMap((evidence) => evidence.frames));
  const context = [...new Set(claim.keyFrames)].filter(
    (frame) => !cited.has(frame) && frame in clip.media.thumbnails,
  );
  return make(
    "div",
    { class: "detail" },
    make("p", { class: "description", dir: "auto" }, claim.description),
    make(
      "dl",
      { class: "facts" },
      fact("severity", severity.word, severity.definition),
      fact("confidence", claim.confidence === null ? "not given" : claim.confidence.toFixed(2)),
      fact("dimension", dimension.name, also.length ? `also ${also.join(", ")}` : ""),
      fact("type", claim.type, typeOf(claim.type).definition),
      fact("when", spansText(claim.spans)),
      claim.kind === "hypothesis" && [
        fact("became", claim.verdict, claim.merged_into ? `into ${claim.merged_into}` : ""),
        fact("reason", claim.reason || "none given"),
        fact("proposed by", claim.proposed_by),
      ],
    ),
    claim.evidence.map((evidence) => evidenceBlock(clip, evidence, onFrame)),
    context.length > 0 &&
      make(
        "div",
        { class: "evidence" },
        make("p", { class: "quiet" }, "more frames of its span"),
        pictures(clip, context, null, onFrame),
      ),
  );
}

function badge(level) {
  const said = {
    class: "badge",
    "data-severity": level ?? "none",
    "aria-label": `severity ${level ?? "not given"}`,
  };
  return make("b", said, level ?? "?");
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
  const seenIn = evidence.view === null ? "" : `, view ${evidence.view}`;
  return make(
    "div",
    { class: "evidence" },
    make(
      "p",
      { dir: "auto" },
      evidence.text,
      make("span", { class: "quiet" }, ` (${evidence.source}${seenIn})`),
    ),
    pictures(clip, evidence.frames, singleView(clip) ? evidence.box : null, onFrame),
  );
}

const singleView = (clip) => clip.layout.views.filter((view) => view !== null).length === 1;

/** Frames as pictures that seek; one whose picture is not in the page is a button without one. */
function pictures(clip, frames, box, onFrame) {
  return make(
    "div",
    { class: "pictures" },
    frames.map((frame) => {
      const source = clip.media.thumbnails[frame];
      const label = frameLabel(clip, frame);
      return make(
        "figure",
        {},
        make(
          "button",
          { type: "button", "aria-label": `go to ${label}`, onclick: () => onFrame(frame) },
          source
            ? make("img", { src: source, alt: "" })
            : make("span", { class: "no-picture" }, "no picture"),
          source && box && boxMark(box),
        ),
        make("figcaption", {}, make("b", {}, frame), ` ${seconds(clip.frame_times_s[frame])}`),
      );
    }),
  );
}

function boxMark({ left, top, right, bottom }) {
  return make("span", {
    class: "box",
    style: {
      left: percent(left, 1),
      top: percent(top, 1),
      width: percent(right - left, 1),
      height: percent(bottom - top, 1),
    },
  });
}
