// The keys of the annotator, in one table: it makes the help, and the tests press each of them.
//
// A key is named by its character, or by its name if it has none ("Space", "Delete"), after "Ctrl+" and "Shift+". Shift
// is named for letters, digits and named keys; on a Mac, Ctrl is also Cmd. `pages` are where a key acts, `fields` says
// that it acts inside a field too, and `repeats` that it acts again while it is held down.

const EDITOR = ["annotate", "review"];
const REVIEW = ["review"];
const ADJUDICATE = ["adjudicate"];
const CLIP = [...EDITOR, ...ADJUDICATE];
const QUEUE = ["queue"];

const SHORTCUTS = [
  { id: "play", keys: ["Space"], pages: CLIP, group: "Play", help: "play or pause" },
  { id: "frameBack", keys: [","], pages: CLIP, group: "Play", help: "one frame back", repeats: true },
  { id: "frameOn", keys: ["."], pages: CLIP, group: "Play", help: "one frame on", repeats: true },
  { id: "left", keys: ["ArrowLeft"], pages: CLIP, group: "Play", help: "one frame back; box: left", repeats: true },
  { id: "right", keys: ["ArrowRight"], pages: CLIP, group: "Play", help: "one frame on; box: right", repeats: true },
  { id: "tenthBack", keys: [";"], pages: CLIP, group: "Play", help: "0.1 s back", repeats: true },
  { id: "tenthOn", keys: ["'"], pages: CLIP, group: "Play", help: "0.1 s on", repeats: true },
  {
    id: "narrower",
    keys: ["Shift+ArrowLeft"],
    pages: CLIP,
    group: "Play",
    help: "1 s back; box: narrower",
    repeats: true,
  },
  { id: "wider", keys: ["Shift+ArrowRight"], pages: CLIP, group: "Play", help: "1 s on; box: wider", repeats: true },
  { id: "firstFrame", keys: ["Home"], pages: CLIP, group: "Play", help: "first frame" },
  { id: "lastFrame", keys: ["End"], pages: CLIP, group: "Play", help: "last frame" },
  { id: "playBack", keys: ["j"], pages: CLIP, group: "Play", help: "play backwards; again: faster" },
  { id: "pause", keys: ["k"], pages: CLIP, group: "Play", help: "pause" },
  { id: "playOn", keys: ["l"], pages: CLIP, group: "Play", help: "play forwards; again: faster" },
  { id: "slower", keys: ["-"], pages: CLIP, group: "Play", help: "slower, down to 0.1×", repeats: true },
  { id: "faster", keys: ["=", "+"], pages: CLIP, group: "Play", help: "faster, up to 4×", repeats: true },
  { id: "normalSpeed", keys: ["0"], pages: CLIP, group: "Play", help: "speed 1×" },
  { id: "nextView", keys: ["v"], pages: CLIP, group: "Play", help: "next view of the picture, then all" },
  { id: "zoomIn", keys: ["z"], pages: CLIP, group: "Play", help: "zoom into the timeline" },
  { id: "zoomOut", keys: ["Shift+z"], pages: CLIP, group: "Play", help: "zoom out of the timeline" },

  { id: "addEvent", keys: ["a"], pages: EDITOR, group: "Event", help: "new event at this time" },
  { id: "setOnset", keys: ["[", "i"], pages: CLIP, group: "Event", help: "the span starts at this frame" },
  { id: "setOffset", keys: ["]", "o"], pages: CLIP, group: "Event", help: "the span ends with this frame" },
  { id: "nextEvent", keys: ["n"], pages: EDITOR, group: "Event", help: "next event" },
  { id: "previousEvent", keys: ["p"], pages: EDITOR, group: "Event", help: "previous event" },
  { id: "goOnset", keys: ["{"], pages: CLIP, group: "Event", help: "go to the first frame of the span" },
  { id: "goOffset", keys: ["}"], pages: CLIP, group: "Event", help: "go to the last frame of the span" },
  {
    id: "loopEvent",
    keys: ["r"],
    pages: CLIP,
    group: "Event",
    help: "loop the event with 1 s before and after; again: stop",
  },
  {
    id: "join",
    keys: ["m"],
    pages: EDITOR,
    group: "Event",
    help: "join the event to another one: m, select the other, m again",
  },
  { id: "addSpan", keys: ["s"], pages: EDITOR, group: "Event", help: "another span of the event at this time" },
  { id: "nextSpan", keys: ["w"], pages: EDITOR, group: "Event", help: "next span of the event" },
  {
    id: "deleteSpan",
    keys: ["Shift+Delete", "Shift+Backspace"],
    pages: EDITOR,
    group: "Event",
    help: "delete the span",
  },
  {
    id: "dimension",
    keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"],
    pages: EDITOR,
    group: "Event",
    help: "dimension of the event; a new event if none is selected",
  },
  { id: "type", keys: ["t"], pages: CLIP, group: "Event", help: "search the type; Enter takes the marked one" },
  {
    id: "severity",
    keys: ["Shift+1", "Shift+2", "Shift+3", "Shift+4", "Shift+5"],
    pages: CLIP,
    group: "Event",
    help: "severity",
  },
  { id: "describe", keys: ["d"], pages: CLIP, group: "Event", help: "describe the event; Esc: back to the keys" },
  {
    id: "box",
    keys: ["b"],
    pages: EDITOR,
    group: "Event",
    help: "box on the picture: drag, or use the arrow keys; again: done",
  },
  { id: "up", keys: ["ArrowUp"], pages: EDITOR, group: "Event", help: "box: up", repeats: true },
  { id: "down", keys: ["ArrowDown"], pages: EDITOR, group: "Event", help: "box: down", repeats: true },
  { id: "shorter", keys: ["Shift+ArrowUp"], pages: EDITOR, group: "Event", help: "box: shorter", repeats: true },
  { id: "taller", keys: ["Shift+ArrowDown"], pages: EDITOR, group: "Event", help: "box: taller", repeats: true },
  { id: "deleteBox", keys: ["Shift+b"], pages: EDITOR, group: "Event", help: "delete the box" },
  { id: "deleteEvent", keys: ["Delete", "Backspace"], pages: EDITOR, group: "Event", help: "delete the event" },

  { id: "accept", keys: ["y"], pages: REVIEW, group: "Review", help: "accept the event as it is" },
  { id: "reject", keys: ["x"], pages: REVIEW, group: "Review", help: "reject the event and give the reason" },
  {
    id: "edit",
    keys: ["e"],
    pages: REVIEW,
    group: "Review",
    help: "edit: to the type; every change counts as an edit",
  },

  {
    id: "take",
    keys: ["a", "b", "c"],
    pages: ADJUDICATE,
    group: "Adjudicate",
    help: "take the event of A, B or C as it is",
  },
  {
    id: "merge",
    keys: ["m"],
    pages: ADJUDICATE,
    group: "Adjudicate",
    help: "merge them into an event that can be changed",
  },
  { id: "separate", keys: ["s"], pages: ADJUDICATE, group: "Adjudicate", help: "take all of them as separate events" },
  { id: "neither", keys: ["x"], pages: ADJUDICATE, group: "Adjudicate", help: "take none of them: there is no event" },
  {
    id: "mergedDimension",
    keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"],
    pages: ADJUDICATE,
    group: "Adjudicate",
    help: "dimension of the merged event",
  },
  { id: "comment", keys: ["w"], pages: ADJUDICATE, group: "Adjudicate", help: "comment on it; Esc: back to the keys" },
  {
    id: "nextOpenDisagreement",
    keys: ["Enter"],
    pages: ADJUDICATE,
    group: "Adjudicate",
    help: "next disagreement that is open",
  },
  { id: "nextDisagreement", keys: ["n"], pages: ADJUDICATE, group: "Adjudicate", help: "next disagreement" },
  { id: "previousDisagreement", keys: ["p"], pages: ADJUDICATE, group: "Adjudicate", help: "previous disagreement" },

  { id: "undo", keys: ["u", "Ctrl+z"], pages: CLIP, group: "Clip", help: "undo", repeats: true },
  {
    id: "redo",
    keys: ["Shift+u", "Ctrl+y", "Ctrl+Shift+z"],
    pages: CLIP,
    group: "Clip",
    help: "redo",
    repeats: true,
  },
  { id: "clean", keys: ["c"], pages: EDITOR, group: "Clip", help: "mark as clean: nothing is wrong; again: not clean" },
  {
    id: "submit",
    keys: ["Ctrl+Enter"],
    pages: CLIP,
    group: "Clip",
    help: "submit, and open the next clip",
    fields: true,
  },
  { id: "nextClip", keys: ["PageDown"], pages: CLIP, group: "Clip", help: "next clip of the queue" },
  { id: "previousClip", keys: ["PageUp"], pages: CLIP, group: "Clip", help: "previous clip of the queue" },
  { id: "queue", keys: ["q"], pages: CLIP, group: "Clip", help: "back to the queue" },
  { id: "guide", keys: ["g"], pages: CLIP, group: "Clip", help: "the guide: types, severities, cascade rule" },
  {
    id: "leave",
    keys: ["Escape"],
    pages: CLIP,
    group: "Clip",
    help: "leave a field, stop the loop, end the box",
    fields: true,
  },

  { id: "nextRow", keys: ["ArrowDown", "j"], pages: QUEUE, group: "Queue", help: "next clip", repeats: true },
  { id: "previousRow", keys: ["ArrowUp", "k"], pages: QUEUE, group: "Queue", help: "previous clip", repeats: true },
  { id: "firstRow", keys: ["Home"], pages: QUEUE, group: "Queue", help: "first clip" },
  { id: "lastRow", keys: ["End"], pages: QUEUE, group: "Queue", help: "last clip" },
  { id: "nextOpen", keys: ["n"], pages: QUEUE, group: "Queue", help: "next clip that is not submitted" },
  { id: "openClip", keys: ["Enter"], pages: QUEUE, group: "Queue", help: "open the clip" },
  { id: "filter", keys: ["/"], pages: QUEUE, group: "Queue", help: "filter the list; Esc: back to it" },
  { id: "leave", keys: ["Escape"], pages: QUEUE, group: "Queue", help: "leave the filter", fields: true },

  { id: "help", keys: ["?"], pages: [...CLIP, ...QUEUE], group: "Help", help: "these keys" },
];

/** The name of a pressed key, as the table writes it; null for keys with Alt, which belong to the browser. */
function keyName(event) {
  if (event.altKey) return null;
  const digit = /^Digit(\d)$/.exec(event.code)?.[1];
  const isLetter = /^[a-z]$/i.test(event.key);
  const name = digit ?? (event.key === " " ? "Space" : isLetter ? event.key.toLowerCase() : event.key);
  const shift = event.shiftKey && (digit || isLetter || name.length > 1) ? "Shift+" : "";
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${shift}${name}`;
}

/**
 * Listen to the keys of a page; `actions` by the id of the table, each called with the number of its key, from 0. One
 * that returns false leaves the key to the browser.
 *
 * A button or link that was reached by keyboard keeps Space and Enter; while a dialog is open no key acts.
 */
function listenToShortcuts(page, actions) {
  const byKey = new Map();
  for (const shortcut of SHORTCUTS.filter(({ pages }) => pages.includes(page))) {
    if (!actions[shortcut.id]) throw new Error(`no action for the key ${shortcut.keys[0]} (${shortcut.id})`);
    shortcut.keys.forEach((key, number) => byKey.set(key, { ...shortcut, number }));
  }
  addEventListener("keydown", (event) => {
    const shortcut = byKey.get(keyName(event));
    if (!shortcut || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input, textarea, select") && !shortcut.fields) return;
    const pressesButton = event.key === " " || event.key === "Enter";
    if (pressesButton && !event.ctrlKey && event.target.matches("button:focus-visible, a, summary")) return;
    if (event.repeat && !shortcut.repeats) event.preventDefault();
    else if (actions[shortcut.id](shortcut.number) !== false) event.preventDefault();
  });
  // A button that was clicked would be pressed when Space, which plays, is released.
  addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.matches("button:not(:focus-visible)")) event.preventDefault();
  });
}

/** The table of the keys of a page. */
function shortcutTable(page) {
  const here = SHORTCUTS.filter(({ pages }) => pages.includes(page));
  const groups = [...new Set(here.map(({ group }) => group))];
  return make(
    "div",
    { class: "shortcuts" },
    groups.map((group) =>
      make(
        "section",
        {},
        make("h3", {}, group),
        make(
          "dl",
          {},
          here
            .filter((shortcut) => shortcut.group === group)
            .map(({ keys, help }) => make("div", {}, make("dt", {}, keycaps(keys)), make("dd", {}, help))),
        ),
      ),
    ),
  );
}

const KEYCAPS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Delete: "Del", Escape: "Esc" };

/** Keys as a reader knows them; more than three in a row are written as a range. */
function keycaps(keys) {
  const cap = (key) =>
    key.split("+").map((part, place, all) => [place > 0 && "+", make("kbd", {}, KEYCAPS[part] ?? (part || "+"))]);
  if (keys.includes("+")) return keys.map((key, place) => [place > 0 && " ", make("kbd", {}, key)]);
  if (keys.length > 3) return [cap(keys[0]), " to ", cap(keys.at(-1))];
  return keys.map((key, place) => [place > 0 && " ", cap(key)]);
}
