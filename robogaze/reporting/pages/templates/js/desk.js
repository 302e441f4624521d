// One thing at a time on the desk: it is read, and then shown, unless another one is wanted by then.

/** `read(entry)` gives a promise of what `show(it, entry)` puts into `home`, which returns its controls. */
function createDesk(home, { read, show }) {
  let wanted = null;
  let shown = null;
  let controls = null;

  async function open(entry, then) {
    home.setAttribute("aria-busy", "true");
    const found = await read(entry).catch((error) => error);
    if (wanted !== entry || shown === entry) return;
    home.removeAttribute("aria-busy");
    controls?.close();
    shown = controls = null;
    if (found instanceof Error) {
      home.replaceChildren(make("p", { class: "problem", role: "alert" }, found.message));
      return;
    }
    shown = entry;
    controls = show(found, entry);
    scrollTo({ top: Math.min(scrollY, home.offsetTop) });
    then(controls);
  }

  return {
    /** What is there, or on its way there. */
    wanted: () => wanted,
    /** The controls of what is there, null for nothing. */
    controls: () => controls,
    /** Put something there; `then` is called with its controls. */
    put(entry, then) {
      wanted = entry;
      if (shown === entry) then(controls);
      else open(entry, then);
    },
  };
}

/** The keys that all that lies on the desk answers to; `move` goes to the neighbour in the list. */
function listenAtDesk(desk, move) {
  const act =
    (what, ...with_) =>
    () =>
      desk.controls()?.[what]?.(...with_);
  listenToKeys(
    {
      " ": act("toggle"),
      ArrowLeft: act("step", -1),
      ArrowRight: act("step", 1),
      n: act("move", 1),
      p: act("move", -1),
      s: act("slower"),
      z: act("enlarge"),
      c: act("closer"),
      Escape: act("escape"),
      j: () => move(1),
      k: () => move(-1),
    },
    () => desk.wanted() !== null,
  );
}

/** These keys in words, with `more` of them; `noun` is what is in the list. */
function keyHints(noun, ...more) {
  const all = [
    ["Space", "play"],
    ["← →", "frame"],
    ["n p", "event"],
    ["j k", noun],
    ...more,
    ["Esc", "stop loop"],
  ];
  return make(
    "p",
    { class: "keys" },
    all.map(([key, does]) => [make("kbd", {}, key), ` ${does} `]),
  );
}
