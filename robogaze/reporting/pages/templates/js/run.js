// The page of a run: the address decides which clips are listed and which one is open.

const home = document.getElementById("clip");
const filter = createFilter({ onFilter: go });
const address = createAddress([...filter.names, "clip", "event"]);
const list = createList(filter, { onOpen: (clip) => go({ clip, event: "" }) });
const viewer = createViewer(home, {
  read: readClip,
  show: (clip) => showClip(home, clip, (event) => go({ clip: clip.id, event })),
});

for (const link of document.querySelectorAll("[data-status-link]"))
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const nothing = Object.fromEntries(filter.names.map((name) => [name, ""]));
    go({ ...nothing, status: link.dataset.statusLink });
  });

function go(changes) {
  address.set(changes);
  follow();
}

/** Update the page to the state in the address. */
function follow() {
  const { clip, event, ...wanted } = address.read();
  filter.show(wanted);
  list.apply(wanted);
  const entry = list.find(clip) ?? viewer.wanted() ?? list.first();
  if (!entry) {
    home.replaceChildren(make("p", { class: "quiet" }, "No clip of this page has a report."));
    return;
  }
  list.mark(entry.id);
  viewer.put(entry, (controls) => event && controls.selectById(event));
}

listenAtViewer(viewer, (by) => {
  const next = list.neighbour(viewer.wanted().id, by);
  if (next) go({ clip: next.id, event: "" });
});
addEventListener("hashchange", follow);

follow();
