// The list beside the open entry: which entries match the filter, and the row of each entry.

/**
 * The list of `entries`, the worst first; an entry whose id is null cannot be opened. `noun` names an entry,
 * `fits(entry, wanted)` returns whether an entry matches the filter, `draw(entry, isCurrent)` makes the row of an
 * entry.
 */
function createList(filter, entries, { noun, fits, draw }) {
  const canOpen = ({ id }) => id !== null;
  const byId = new Map(entries.filter(canOpen).map((entry) => [entry.id, entry]));
  let visible = [];
  let current = null;
  const rows = createRows(document.querySelector(".clips"), (entry) => draw(entry, entry.id === current));

  return {
    find: (id) => byId.get(id),
    isVisible: (entry) => visible.includes(entry),
    /** The first visible entry, or the first of all entries if none is visible. */
    first: () => [...visible, ...entries].find(canOpen),
    /** The visible entry `by` rows after another. */
    neighbour(id, by) {
      const open = visible.filter(canOpen);
      const at = open.findIndex((entry) => entry.id === id);
      return open[Math.min(Math.max(at + by, 0), open.length - 1)];
    },
    /** List the entries that fit; `ordered` are all entries in the order to show. */
    apply(wanted, ordered = entries) {
      visible = ordered.filter((entry) => fits(entry, wanted));
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
