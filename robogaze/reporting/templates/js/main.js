// The page: what it shows stands in the address, so that any view can be linked; keys drive the clip on the desk.

const home = document.getElementById("clip");
let desk = null; // the id and the controls of the clip on the desk

const list = createList({
  onFilter: (values) => go({ ...address(), ...values }),
  onOpen: (id) => go({ ...address(), clip: id, event: "" }),
});

function address() {
  const read = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries([...FILTERS, "clip", "event"].map((name) => [name, read.get(name) ?? ""]));
}

function go(wanted) {
  const parts = Object.entries(wanted).filter(([, value]) => value);
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
  follow();
}

/** Bring the page to what the address says. */
function follow() {
  const wanted = address();
  list.apply(wanted);
  const id = list.indexOf(wanted.clip) === undefined ? (desk?.id ?? list.first()) : wanted.clip;
  if (id === undefined) {
    home.replaceChildren(make("p", { class: "quiet" }, "No clip of this page has a report."));
    return;
  }
  if (desk?.id !== id) {
    desk?.controls.close();
    desk = {
      id,
      controls: showClip(home, list.indexOf(id), (event) => go({ ...address(), clip: id, event })),
    };
    list.mark(id);
    scrollTo({ top: Math.min(scrollY, home.offsetTop) });
  }
  if (wanted.event) desk.controls.selectById(wanted.event);
}

const KEYS = {
  " ": (controls) => controls.toggle(),
  ArrowLeft: (controls) => controls.step(-1),
  ArrowRight: (controls) => controls.step(1),
  n: (controls) => controls.move(1),
  p: (controls) => controls.move(-1),
  Escape: (controls) => controls.stopLoop(),
  j: () => go({ ...address(), clip: list.neighbour(desk.id, 1), event: "" }),
  k: () => go({ ...address(), clip: list.neighbour(desk.id, -1), event: "" }),
};

/** Space presses the button in focus, unless that button is a claim: there it plays, and Enter selects. */
function keepsSpace(target) {
  return target.closest("button:not([data-claim]), summary, a");
}

addEventListener(
  "keydown",
  (event) => {
    const act = KEYS[event.key];
    const busy = event.target.closest("input, select, textarea") && event.key !== "Escape";
    if (!act || !desk || busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && keepsSpace(event.target)) return;
    event.preventDefault();
    event.stopPropagation();
    act(desk.controls);
  },
  true,
);

// A button in Firefox is pressed when Space is let go, which a stopped keydown does not prevent.
addEventListener(
  "keyup",
  (event) => {
    if (event.key === " " && event.target.closest("button[data-claim]")) event.preventDefault();
  },
  true,
);

addEventListener("hashchange", follow);
addEventListener("beforeprint", () =>
  document.querySelectorAll("details:not([open], .raw)").forEach((one) => {
    one.open = true;
    one.dataset.printed = "";
  }),
);
addEventListener("afterprint", () =>
  document.querySelectorAll("[data-printed]").forEach((one) => {
    one.open = false;
    delete one.dataset.printed;
  }),
);

follow();
