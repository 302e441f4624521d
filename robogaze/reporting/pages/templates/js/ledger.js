// What did the model see? Which frames each stage was shown, and every call.

/** The section, and a function that moves its playhead. */
function createLedger(clip, { onSeek }) {
  const { calls, pictures } = clip.report.provenance;
  if (!calls.length)
    return {
      element: section(
        "What did the model see?",
        make("p", { class: "quiet" }, "No call to a model is recorded for this clip."),
      ),
      setTime() {},
    };
  const shown = new Map(pictures.map((picture) => [picture.id, picture]));
  const framesOf = (some) =>
    ascending(some.flatMap((call) => call.pictures.flatMap((id) => shown.get(id)?.frames ?? [])));
  const stages = [...new Set(calls.map((call) => call.stage))];
  const oneCall = axisRow("this call", marks(clip, []));
  oneCall.hidden = true;
  const rows = stages.map((stage) => {
    const mine = calls.filter((call) => call.stage === stage);
    const frames = framesOf(mine);
    return axisRow(
      [
        make("b", {}, stage),
        make("span", { class: "quiet" }, `${plural(mine.length, "call")}, ${plural(frames.length, "frame")}`),
      ],
      marks(clip, frames),
    );
  });
  const axis = createAxis(clip, [...rows, unseenRow(clip), oneCall], { onSeek });
  const about = make("p", { class: "quiet", role: "status" });

  function pick(call) {
    const frames = framesOf([call]);
    oneCall.hidden = false;
    oneCall.querySelector(".label").replaceChildren(make("b", {}, call.id));
    oneCall.querySelector(".track").replaceChildren(marks(clip, frames));
    const what = `${picturesText(call, shown)}: frames ${framesText(frames) || "none"}`;
    about.textContent = `${call.id} (${call.stage}, ${call.subject}) was shown ${what}.`;
  }

  return {
    element: section(
      "What did the model see?",
      make("p", {}, sightWords(clip, framesOf(calls))),
      axis.element,
      about,
      callTable(calls, pick),
    ),
    setTime: axis.setTime,
  };
}

const ascending = (frames) => [...new Set(frames)].sort((a, b) => a - b);

function sightWords(clip, frames) {
  const ofAll = (some) => `${number(some.length)} (${share(some.length, clip.frame_count)})`;
  const unseen = unseenFrames(clip);
  const seen = `${ofAll(frames)} of ${plural(clip.frame_count, "frame")} were shown to at least one stage`;
  return unseen.length ? `${seen}; no specialist saw ${ofAll(unseen)}.` : `${seen}.`;
}

const unseenFrames = (clip) =>
  clip.report.unseen.flatMap(([first, end]) =>
    Array.from({ length: end - first }, (_, index) => first + index),
  );

function unseenRow(clip) {
  const frames = unseenFrames(clip);
  const row = axisRow(
    [make("b", {}, "unseen"), make("span", { class: "quiet" }, plural(frames.length, "frame"))],
    clip.report.unseen.map(([first, end]) => {
      const [from, to] = [clip.frame_times_s[first], frameEnd(clip, end - 1)];
      return make("span", {
        class: "unseen",
        title: `no specialist saw frames ${first}–${end - 1}`,
        style: { left: percent(from, clip.duration_s), width: percent(to - from, clip.duration_s) },
      });
    }),
  );
  row.dataset.state = "unseen";
  return row;
}

/** A mark for each frame, as wide as its duration, all in one path. */
function marks(clip, frames) {
  const path = frames.map((frame) => {
    const start = clip.frame_times_s[frame];
    const width = (frameEnd(clip, frame) - start) * 0.75;
    return `M${start.toFixed(4)} 0h${width.toFixed(4)}v1h-${width.toFixed(4)}z`;
  });
  return makeSvg(
    "svg",
    {
      class: "marks",
      viewBox: `0 0 ${clip.duration_s} 1`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    makeSvg("path", { d: path.join("") }),
  );
}

function picturesText(call, shown) {
  const sizes = new Set(
    call.pictures
      .map((id) => shown.get(id))
      .filter(Boolean)
      .map(({ width, height }) => `${width}×${height}`),
  );
  return `${plural(call.pictures.length, "picture")}${sizes.size ? ` of ${[...sizes].join(" and ")} px` : ""}`;
}

function callTable(calls, pick) {
  const heads = [
    "call",
    "stage",
    "subject",
    "role",
    "model",
    "round",
    "attempt",
    "outcome",
    "pictures",
    "tokens sent",
    "cached",
    "received",
    "latency",
  ];
  const rows = calls.map((call) => [
    make("button", { type: "button", class: "link", onclick: () => pick(call) }, call.id),
    call.stage,
    call.subject,
    call.role,
    call.model,
    call.round,
    call.attempt,
    outcome(call),
    call.pictures.length,
    call.prompt_tokens ?? "not known",
    call.cached_tokens ?? "not known",
    call.completion_tokens ?? "not known",
    `${call.latency_s.toFixed(1)} s`,
  ]);
  return table(heads, rows);
}

function outcome(call) {
  const word = make("span", { class: "outcome", "data-outcome": call.outcome }, call.outcome);
  return call.error === null
    ? word
    : make("span", {}, word, make("span", { class: "quiet", dir: "auto" }, ` ${call.error}`));
}
