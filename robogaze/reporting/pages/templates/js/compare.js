// The page of a comparison: the address says which changes are listed and which one is on the desk.

const home = document.getElementById("pair");
const filter = createFilter({ onFilter: go });
const address = createAddress([...filter.names, "flip", "event"]);
const list = createFlips(filter, { onOpen: (flip) => go({ flip, event: "" }) });
const desk = createDesk(home, {
  read: readPair,
  show: (clips, flip) => showPair(home, clips, flip, (event) => go({ flip: flip.id, event })),
});

function go(changes) {
  address.set(changes);
  follow();
}

/** Bring the page to what the address says. */
function follow() {
  const { flip, event, ...wanted } = address.read();
  filter.show(wanted);
  list.apply(wanted);
  const entry = list.find(flip) ?? desk.wanted() ?? list.first();
  if (!entry) {
    home.replaceChildren(make("p", { class: "quiet" }, "No prompt's clip changed from one run to another."));
    return;
  }
  list.mark(entry.id);
  desk.put(entry, (controls) => event && controls.selectById(event));
}

listenAtDesk(desk, (by) => {
  const next = list.neighbour(desk.wanted().id, by);
  if (next) go({ flip: next.id, event: "" });
});
addEventListener("hashchange", follow);

follow();
