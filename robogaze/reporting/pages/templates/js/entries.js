// The entries of a page of results: which entries match the filter, and the row of each entry.

/** The entries with their text, the noun of an entry, and whether the sides of an entry are of the same video. */
function readEntries() {
  const { noun, oneVideo, entries } = readJson("entries");
  return { noun, oneVideo, entries: entries.map((entry) => ({ ...entry, text: textOf(entry) })) };
}

function textOf({ title, subtitle, changes, sides, links }) {
  const types = changes.map(([, , type]) => typeOf(type).name);
  const words = [title, subtitle, ...types, ...sides.map(({ key }) => key), ...links.map(([text]) => text)];
  return words.join("\n").toLowerCase();
}

/** Whether an entry matches the filter; all filters on tags of events must match the same event. */
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
    { href: `#entry=${encodeURIComponent(entry.id)}`, title: entry.title, isCurrent, onOpen },
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
