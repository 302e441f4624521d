// The list of prompts whose clips changed, what deserves a look first.

const KINDS = {
  new: { mark: "▲", said: "Was clean and has events now" },
  worse: { mark: "△", said: "Had events and is worse now" },
  changed: { mark: "◇", said: "Has other events of the same load" },
  better: { mark: "▽", said: "Had events and is better now" },
  fixed: { mark: "▼", said: "Had events and is clean now" },
};

/** The entries, and the rows that show those that are wanted; `onOpen` is called with the id of a flip. */
function createFlips(filter, { onOpen }) {
  const { flips, pairs } = readJson("flips");
  const entries = flips.map((flip) => flipEntry(flip, pairs[flip.pair]));
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  let visible = [];
  let current = null;

  const rows = createRows(document.querySelector(".clips"), (entry) =>
    flipRow(entry, pairs.length > 1, entry.id === current, onOpen),
  );

  return {
    find: (id) => byId.get(id),
    first: () => visible[0] ?? entries[0],
    /** The wanted flip that stands `by` places after another. */
    neighbour(id, by) {
      const at = visible.findIndex((entry) => entry.id === id);
      return visible[Math.min(Math.max(at + by, 0), visible.length - 1)];
    },
    apply(wanted) {
      visible = entries.filter((entry) => flipMatches(entry, wanted));
      rows.show(visible);
      filter.count(visible.length, entries.length, "change");
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

/** `runs` are those of the pair, the earlier one first. */
function flipEntry(flip, runs) {
  const names = [...flip.gained, ...flip.lost].map(({ type }) => typeOf(type).name);
  const text = [flip.prompt, flip.before, flip.after, ...names].join("\n").toLowerCase();
  return { ...flip, runs, id: `${flip.pair}/${flip.prompt}`, text };
}

function flipMatches(flip, { text, pair, kind, type, severity }) {
  const changed = [...flip.gained, ...flip.lost];
  const fits = (one) =>
    (!type || one.type === type) && (!severity || (one.severity ?? 0) >= Number(severity));
  return (
    (!text || says(flip, text)) &&
    (!pair || flip.pair === Number(pair)) &&
    (!kind || flip.kind === kind) &&
    (!(type || severity) || changed.some(fits))
  );
}

const kindMark = (kind) => make("span", { class: "kind", "data-kind": kind }, `${KINDS[kind].mark} ${kind}`);

function flipRow(flip, severalPairs, isCurrent, onOpen) {
  return rowLink(
    {
      href: `#flip=${encodeURIComponent(flip.id)}`,
      title: flip.prompt,
      isCurrent,
      onOpen: () => onOpen(flip.id),
    },
    make("span", { class: "clip-id" }, make("bdi", {}, flip.prompt)),
    kindMark(flip.kind),
    severalPairs && make("span", { class: "clip-task" }, make("bdi", {}, flip.runs.join(" → "))),
    make("span", { class: "clip-found" }, changes(flip)),
  );
}

/** The types that came and went, each with its severity. */
function changes({ gained, lost }) {
  const told = (some, sign, word) =>
    some.map(({ type, severity }, place) => [
      place > 0 && ", ",
      make("span", { "aria-label": word }, sign),
      badge(severity),
      typeOf(type).name,
    ]);
  return [told(gained, "+ ", "gained"), gained.length && lost.length ? " · " : "", told(lost, "− ", "lost")];
}
