// The clips of a run in its list: their order, their text, and their rows.

/** The clips, the worst first and in the order of the run; unreadable files are last in both. */
function readClips() {
  const { clips, worst_first: worstFirst, unreadable, dimensions: dimensionCount } = readJson("list");
  const inRunOrder = [
    ...clips.map((clip) => ({ ...clipEntry(clip), dimensionCount })),
    ...unreadable.map(unreadableEntry),
  ];
  const worst = [...worstFirst.map((place) => inRunOrder[place]), ...inRunOrder.slice(clips.length)];
  return { worst, inRunOrder };
}

/** The mark of a clip: its verdict, and its status if that is not complete. */
function standingOf({ status, verdict }) {
  if (status === "unscored") return { standing: status, words: status };
  return { standing: verdict, words: status === "complete" ? verdict : `${verdict}, ${status}` };
}

function clipEntry(clip) {
  const types = [...new Set(clip.events.map(([, type]) => type))].map((type) => typeOf(type).name);
  const text = [clip.id, clip.task ?? "", ...Object.values(clip.fields), ...types, ...clip.descriptions]
    .join("\n")
    .toLowerCase();
  return { ...clip, ...standingOf(clip), types, text };
}

const unreadableEntry = ({ uri, reason }) => ({
  id: null,
  uri,
  reason,
  status: "unreadable",
  verdict: null,
  standing: "unreadable",
  events: [],
  fields: {},
  text: `${uri}\n${reason}`.toLowerCase(),
});

/** Whether a clip matches the filter; all filters on events must match the same event of the clip. */
function clipMatches(entry, { text, status, dimension, type, severity, ...fields }) {
  const asked = dimension || type || severity;
  const fits = ([of, kind, level]) =>
    (!dimension || of.includes(dimension)) &&
    (!type || kind === type) &&
    (!severity || (level ?? 0) >= Number(severity));
  return (
    (!text || contains(entry, text)) &&
    (!status || entry.status === status || entry.verdict === status) &&
    (!asked || entry.events.some(fits)) &&
    Object.entries(fields).every(([name, value]) => !value || entry.fields[name] === value)
  );
}

function clipRow(entry, isCurrent, onOpen) {
  if (entry.id === null) return unreadableRow(entry);
  return rowLink(
    { href: `#clip=${encodeURIComponent(entry.id)}`, title: entry.id, isCurrent, onOpen },
    make("span", { class: "clip-id" }, make("bdi", {}, entry.id)),
    make("span", { class: "status", "data-standing": entry.standing }, entry.words),
    entry.task && make("span", { class: "clip-task", dir: "auto" }, entry.task),
    make("span", { class: "clip-found" }, found(entry)),
  );
}

const SEVERITIES_SHOWN = 6;

function found({ events, types, status, verdict, covered, dimensionCount }) {
  if (!events.length)
    return status === "unscored"
      ? "nothing is known"
      : verdict === "clean"
        ? "nothing found in any dimension"
        : `nothing found, ${covered} of ${dimensionCount} dimensions examined`;
  const levels = events.map(([, , level]) => level ?? 0).sort((a, b) => b - a);
  const more = levels.length - SEVERITIES_SHOWN;
  return [
    levels.slice(0, SEVERITIES_SHOWN).map((level) => badge(level || null)),
    more > 0 && `+${more} `,
    types.join(", "),
  ];
}

function unreadableRow({ uri, reason }) {
  return make(
    "div",
    { class: "unreadable", title: reason },
    make("span", { class: "clip-id" }, make("bdi", {}, uri)),
    make("span", { class: "status", "data-standing": "unreadable" }, "unreadable"),
    make("span", { class: "clip-found", dir: "auto" }, reason),
  );
}
