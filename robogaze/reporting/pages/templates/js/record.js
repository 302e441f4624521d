// The rest of a report: failures, notes, versions, settings, and the report itself to copy or save.

function createRemarks({ report }) {
  return [
    report.failures.length > 0 &&
      section(
        "What failed",
        table(
          ["stage", "dimension", "kind", "what happened"],
          report.failures.map(({ stage, dimension, kind, message }) => [
            stage,
            dimension ? dimensionOf(dimension).name : "all",
            kind,
            message,
          ]),
        ),
      ),
    report.notes.length > 0 &&
      section(
        "Notes",
        make(
          "ul",
          {},
          report.notes.map((note) => make("li", { dir: "auto" }, note)),
        ),
      ),
  ];
}

function createRecord(clip) {
  const { report } = clip;
  const { versions, models, media } = report.provenance;
  return [
    folded(
      "How this report was made",
      `${report.pipeline} by ${report.author}`,
      table(
        ["what", "value"],
        [
          ["domain", `${report.domain.id} ${report.domain.version}`],
          ["domain fingerprint", report.domain.fingerprint],
          ["clip", clip.uri],
          ...(clip.start_s === null ? [] : [["part of the clip's file", spanText([clip.start_s, clip.end_s])]]),
          ["clip sha256", clip.sha256],
          [
            "frames",
            `${clip.frame_count}, ${clip.fps.toFixed(2)} fps, ${clip.width}×${clip.height} px, ${seconds(clip.duration_s)}`,
          ],
          ...usageRows(report.usage),
          ...settings("version", versions),
          ...settings("media", media),
          ...Object.entries(models).flatMap(([role, values]) => settings(`model ${role}`, values)),
        ],
      ),
    ),
    rawReport(clip),
  ];
}

function usageRows(usage) {
  return [
    ["calls", `${number(usage.calls)} in ${plural(usage.rounds, "round")}`],
    [
      "tokens",
      `${known(usage.prompt_tokens)} sent (${known(usage.cached_tokens)} cached), ${known(usage.completion_tokens)} received`,
    ],
    ["cost", known(usage.cost_usd, dollars)],
    ["time", seconds(usage.wall_s)],
  ];
}

const settings = (what, values) =>
  Object.entries(values).map(([name, value]) => [
    `${what} ${name}`,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);

/** The report as JSON, created only on demand. */
function rawReport(clip) {
  const oneLine = (numbers) => numbers.replace(/\s+/g, " ");
  const text = () => JSON.stringify(clip.report, null, 2).replace(/\[\n[\s\d.,eE+-]+\]/g, oneLine);
  const status = make("span", { role: "status", class: "quiet" });
  const code = make("pre", { tabindex: "0" });
  const copy = make(
    "button",
    {
      type: "button",
      onclick: () =>
        navigator.clipboard.writeText(text()).then(
          () => {
            status.textContent = "copied";
          },
          () => {
            status.textContent = "the browser does not allow copying here; save the report instead";
          },
        ),
    },
    "copy",
  );
  const save = make(
    "a",
    {
      href: "#",
      download: `${clip.id}.report.json`,
      onclick: (event) => {
        event.currentTarget.href = URL.createObjectURL(new Blob([text()], { type: "application/json" }));
      },
    },
    "save",
  );
  const element = folded(
    "Report as JSON",
    "the whole report, as data",
    make("p", { class: "buttons" }, copy, save, status),
    code,
  );
  element.classList.add("raw");
  element.addEventListener("toggle", () => {
    code.textContent = element.open ? text() : "";
  });
  return element;
}
