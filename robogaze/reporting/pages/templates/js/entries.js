// The entries of a page of results: which ones match the filter, and the row of each.

/** The entries and their rows; `onOpen` is called with the id of an entry. */
function createEntries(filter, { onOpen }) {
  const { noun, oneVideo, entries: given } = readJson("entries");
  const entries = given.map((entry) => ({ ...entry, text: textOf(entry) }));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  let visible = [];
  let current = null;

  const rows = createRows(document.querySelector(".clips"), (entry) =>
    entryRow(entry, entry.id === current, onOpen),
  );

  return {
    noun,
    oneVideo,
    find: (id) => byId.get(id),
    isVisible: (entry) => visible.includes(entry),
    first: () => visible[0] ?? entries[0],
    /** The visible entry `by` rows after another. */
    neighbour(id, by) {
      const at = visible.findIndex((entry) => entry.id === id);
      return visible[Math.min(Math.max(at + by, 0), visible.length - 1)];
    },
    apply(wanted) {
      visible = entries.filter((entry) => entryMatches(entry, wanted));
      rows.show(visible);
      filter.count(visible.length, entries.length, noun);
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

function textOf({ title, subtitle, changes, sides, links }) {
  const types = changes.map(([, , type]) => typeOf(type).name);
  const words = [title, subtitle, ...types, ...sides.map(({ key }) => key), ...links.map(([text]) => text)];
  return words.join("\n").toLowerCase();
}

/** Tags of an entry must fit, and the tags of events must fit one and the same event. */
function entryMatches(entry, { text, ...wanted }) {
  const set = Object.entries(wanted).filter(([, value]) => value);
  const ofEvents = set.filter(([tag]) => !(tag in entry.tags));
  return (
    (!text || contains(entry, text)) &&
    set.every(([tag, value]) => !(tag in entry.tags) || entry.tags[tag].includes(value)) &&
    (!ofEvents.length ||
      entry.events.some((event) => ofEvents.every(([tag, value]) => (event[tag] ?? []).includes(value))))
  );
}

const markOf = ({ mark: [word, tone] }) => make("span", { class: "kind", "data-tone": tone }, word);

function entryRow(entry, isCurrent, onOpen) {
  return rowLink(
    {
      href: `#entry=${encodeURIComponent(entry.id)}`,
      title: entry.title,
      isCurrent,
      onOpen: () => onOpen(entry.id),
    },
    make("span", { class: "clip-id", "data-alone": !entry.subtitle }, make("bdi", {}, entry.title)),
    markOf(entry),
    entry.subtitle && make("span", { class: "clip-task", dir: "auto" }, entry.subtitle),
    make("span", { class: "clip-found" }, entry.changes.length ? changesOf(entry) : entry.sentence),
  );
}

/** The events that an entry is about, each with its sign and severity. */
function changesOf({ changes }) {
  return changes.map(([sign, word, type, severity], place) => [
    place > 0 && ", ",
    make("span", { "aria-label": word, title: word }, `${sign} `),
    badge(severity),
    typeOf(type).name,
  ]);
}
