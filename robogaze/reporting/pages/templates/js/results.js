// A page of results: the address decides which entries are listed and which entry is open.

const home = document.getElementById("entry");
if (home) showEntries(home);

function showEntries(home) {
  const filter = createFilter({ onFilter: go });
  const address = createAddress([...filter.names, "entry", "event"]);
  const { noun, oneVideo, entries } = readEntries();
  const list = createList(filter, entries, {
    noun,
    fits: entryMatches,
    draw: (entry, isCurrent) => entryRow(entry, isCurrent, () => go({ entry: entry.id, event: "" })),
  });
  const viewer = createViewer(home, {
    read: readSides,
    show: (clips, entry) =>
      showSides(home, clips, entry, { noun, oneVideo }, (event) => go({ entry: entry.id, event })),
  });

  function go(changes) {
    address.set(changes);
    follow();
  }

  /** Update the page to the state in the address. */
  function follow() {
    const { entry: id, event, ...wanted } = address.read();
    filter.show(wanted);
    list.apply(wanted);
    const open = viewer.wanted();
    const entry = list.find(id) ?? (list.isVisible(open) ? open : list.first());
    list.mark(entry.id);
    viewer.put(entry, (controls) => event && controls.selectById(event));
  }

  listenAtViewer(viewer, (by) => {
    const next = list.neighbour(viewer.wanted().id, by);
    if (next) go({ entry: next.id, event: "" });
  });
  addEventListener("hashchange", follow);
  // A number in a table leads to the clips behind it.
  document.querySelector("header").addEventListener("click", ({ target }) => {
    if (target.closest("a[href^='#']")) document.querySelector(".columns").scrollIntoView();
  });

  follow();
}
