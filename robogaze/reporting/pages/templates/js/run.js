// The page of a run: the address decides which clips are listed and which clip is open.

const home = document.getElementById("clip");
const filter = createFilter({ onFilter: go });
const address = createAddress([...filter.names, "clip", "event"]);
const clips = readClips();
const list = createList(filter, clips.worst, {
  noun: "clip",
  fits: clipMatches,
  draw: (entry, isCurrent) => clipRow(entry, isCurrent, () => go({ clip: entry.id, event: "" })),
});
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
  const { clip, event, ...fields } = address.read();
  const { order, ...wanted } = fields;
  filter.show(fields);
  list.apply(wanted, order === "run" ? clips.inRunOrder : clips.worst);
  for (const link of document.querySelectorAll(".tile"))
    link.toggleAttribute("data-on", link.dataset.statusLink === wanted.status);
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
