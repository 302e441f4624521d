// Keys that work wherever the focus is, except in a field of the form.

/** Space presses the button in focus, unless that button is a claim: then Space plays, and Enter selects. */
function keepsSpace(target) {
  return target.closest("button:not([data-claim]), summary, a");
}

/** The arrow keys scroll a wide table that has the focus. */
const scrolls = (target) => target.matches("[role=region]") && target.scrollWidth > target.clientWidth;

/** `actions` by key; `ready` returns whether there is something to act on. */
function listenToKeys(actions, ready) {
  addEventListener(
    "keydown",
    (event) => {
      const act = actions[event.key];
      const busy = event.target.closest("input, select, textarea") && event.key !== "Escape";
      if (!act || !ready() || busy || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && keepsSpace(event.target)) return;
      if (event.key.startsWith("Arrow") && scrolls(event.target)) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    },
    true,
  );
  // Firefox presses a button when Space is released, which a stopped keydown does not prevent.
  addEventListener(
    "keyup",
    (event) => {
      if (event.key === " " && event.target.closest("button[data-claim]")) event.preventDefault();
    },
    true,
  );
}

/** In print every part is open, except raw data. */
addEventListener("beforeprint", () =>
  document.querySelectorAll("details:not([open], .raw)").forEach((part) => {
    part.open = true;
    part.dataset.printed = "";
  }),
);
addEventListener("afterprint", () =>
  document.querySelectorAll("[data-printed]").forEach((part) => {
    part.open = false;
    delete part.dataset.printed;
  }),
);
