// The viewer shows one entry at a time. It reads the entry, then shows it unless another was requested meanwhile.

/** `read(entry)` returns a promise of the data that `show(data, entry)` puts into `home`, which returns its controls. */
function createViewer(home, { read, show }) {
  let wanted = null;
  let shown = null;
  let controls = null;
  let last = null; // what is to be done with the controls

  async function open(entry) {
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
    last(controls);
  }

  return {
    /** The entry that is shown or being read. */
    wanted: () => wanted,
    /** The controls of the shown entry, null for none. */
    controls: () => controls,
    /** Show an entry; `then` is called with its controls. */
    put(entry, then) {
      [wanted, last] = [entry, then];
      if (shown !== entry) return void open(entry);
      home.removeAttribute("aria-busy");
      then(controls);
    },
  };
}

/** The keys of the viewer; `move` goes to a neighbour in the list. */
function listenAtViewer(viewer, move) {
  const act =
    (what, ...with_) =>
    () =>
      viewer.controls()?.[what]?.(...with_);
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
    () => viewer.wanted() !== null,
  );
}

/** The help text for these keys and `more` keys; `noun` names the entries of the list. */
function keyHints(noun, ...more) {
  const all = [
    ["Space", "play"],
    ["← →", "previous or next frame"],
    ["n p", "next or previous event"],
    ["j k", `next or previous ${noun}`],
    ...more,
    ["Esc", "stop the loop"],
  ];
  return make(
    "p",
    { class: "keys" },
    all.map(([key, does]) => [make("kbd", {}, key), ` ${does} `]),
  );
}
