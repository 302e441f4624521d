// The list of clips: which ones match the filter, and the row of each.

/** The entries and the rows of the visible ones; `onOpen` is called with the id of a clip. */
function createList(filter, { onOpen }) {
  const { clips, worst_first: worstFirst, unreadable, dimensions: dimensionCount } = readJson("list");
  const inRunOrder = [...clips.map(clipEntry), ...unreadable.map(unreadableEntry)];
  const entries = [...worstFirst.map((place) => inRunOrder[place]), ...inRunOrder.slice(clips.length)];
  const byId = new Map(entries.filter((entry) => entry.id !== null).map((entry) => [entry.id, entry]));
  let visible = [];
  let current = null;

  const rows = createRows(document.querySelector(".clips"), (entry) =>
    entry.id === null ? unreadableRow(entry) : clipRow(entry, dimensionCount, entry.id === current, onOpen),
  );

  return {
    find: (id) => byId.get(id),
    /** The visible clip `by` rows after another. */
    neighbour(id, by) {
      const open = visible.filter((entry) => entry.id !== null);
      const at = open.findIndex((entry) => entry.id === id);
      return open[Math.min(Math.max(at + by, 0), open.length - 1)];
    },
    /** The first visible clip, or the first of all clips if none is visible. */
    first: () => [...visible, ...entries].find((entry) => entry.id !== null),
    apply({ order, ...wanted }) {
      const ordered = order === "run" ? inRunOrder : entries;
      visible = ordered.filter((entry) => matches(entry, wanted));
      rows.show(visible);
      filter.count(visible.length, entries.length, "clip");
      for (const link of document.querySelectorAll(".tile"))
        link.toggleAttribute("data-on", link.dataset.statusLink === wanted.status);
    },
    mark(id) {
      if (id === current) return;
      current = id;
      rows.reveal(byId.get(id));
      for (const [entry, element] of rows.drawn)
        element.firstChild.setAttribute("aria-current", String(entry.id === id));
    },
  };
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

/** The filters on events must fit one and the same event of the clip. */
function matches(entry, { text, status, dimension, type, severity, ...fields }) {
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

function clipRow(entry, dimensionCount, isCurrent, onOpen) {
  return rowLink(
    {
      href: `#clip=${encodeURIComponent(entry.id)}`,
      title: entry.id,
      isCurrent,
      onOpen: () => onOpen(entry.id),
    },
    make("span", { class: "clip-id" }, make("bdi", {}, entry.id)),
    make("span", { class: "status", "data-standing": entry.standing }, entry.words),
    entry.task && make("span", { class: "clip-task", dir: "auto" }, entry.task),
    make("span", { class: "clip-found" }, found(entry, dimensionCount)),
  );
}

const SEVERITIES_SHOWN = 6;

function found({ events, types, status, verdict, covered }, dimensionCount) {
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
