// The data of the page: the domain's words, and the data of each clip, which is read on demand.

const readJson = (id) => JSON.parse(document.getElementById(id).textContent);

const vocabulary = readJson("vocabulary");
const dimensions = new Map(vocabulary.dimensions.map((dimension) => [dimension.id, dimension]));

/** A dimension by id; an unknown dimension is shown by its id. */
const dimensionOf = (id) => dimensions.get(id) ?? { id, code: "?", name: id, definition: "" };
const typeOf = (id) => vocabulary.types[id] ?? { name: id, definition: "" };

function severityOf(level) {
  if (level === null) return { word: "severity not given", definition: "" };
  const { name = "", definition = "" } = vocabulary.severity[level] ?? {};
  return { word: `${level} ${name}`.trim(), definition };
}

const inPage = new Map(
  [...document.querySelectorAll("script[data-key]")].map((element) => [element.dataset.key, element]),
);
const bundles = new Map(); // by file, the last used at the end
const BUNDLES_KEPT = 3;

/** Called by a file next to the page, with its whole content. */
globalThis.bundleArrived = (file, text) => bundles.set(file, new Map(Object.entries(JSON.parse(text))));

/** The data of a key: in the page if `file` is null, otherwise in that file next to it. Rejects with an Error. */
async function readData(key, file) {
  if (file === null) return JSON.parse(inPage.get(key).textContent);
  if (!bundles.has(file)) await runFile(file);
  const bundle = bundles.get(file);
  if (!bundle?.has(key))
    throw new Error(`${file} belongs to another version of this page. Create the page again.`);
  bundles.delete(file);
  bundles.set(file, bundle);
  for (const old of [...bundles.keys()].slice(0, -BUNDLES_KEPT)) bundles.delete(old);
  return bundle.get(key);
}

function runFile(file) {
  const script = make("script", { src: file });
  const ran = new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", () =>
      reject(new Error(`${file} is missing. The folder with this file must stay next to the page.`)),
    );
  });
  document.head.append(script);
  return ran.finally(() => script.remove());
}

/**
 * A clip with its claims in one form: events, undecided hypotheses, and hypotheses that were set aside.
 */
async function readClip({ id, file }) {
  const { report, media } = await readData(id, file);
  const claim = (kind, keyFrames) => (data, place) => ({
    ...asClaim(data, kind),
    keyFrames: keyFrames[place],
    shown: kind === "hypothesis" ? media.verdicts[place] : null,
  });
  const others = report.hypotheses
    .map(claim("hypothesis", media.key_frames.hypotheses))
    .filter(({ verdict }) => verdict !== "accepted")
    .sort(byOnset);
  const isUndecided = ({ shown }) => shown.verdict === "undecided";
  return {
    report,
    media,
    ...report.clip,
    axis_s: report.clip.duration_s,
    events: report.events.map(claim("event", media.key_frames.events)).sort(byOnset),
    undecided: others.filter(isUndecided),
    setAside: others.filter((each) => !isUndecided(each)),
  };
}

const asClaim = (data, kind) => ({
  ...data,
  kind,
  // A claim of a foreign format may have no time.
  onset: data.spans[0]?.[0] ?? 0,
  offset: data.spans.at(-1)?.[1] ?? 0,
});

const byOnset = (a, b) => a.onset - b.onset || a.offset - b.offset;
