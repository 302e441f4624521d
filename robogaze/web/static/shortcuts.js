// The keys of the annotator, in one table: the help is made from it, and the tests press each key.
//
// A key is named by its character, or by its name if it has none ("Space", "Delete"), after "Ctrl+" and "Shift+". Shift
// is named for letters, digits and named keys; on a Mac, Ctrl is also Cmd. `pages` are where a key acts, `fields` says
// that it acts inside a field too, and `repeats` that it acts again while it is held down.

const EDITOR = ["annotate", "review"];
const REVIEW = ["review"];
const ADJUDICATE = ["adjudicate"];
const CLIP = [...EDITOR, ...ADJUDICATE];
const QUEUE = ["queue"];
const ALL = [...CLIP, ...QUEUE];
const REPEATS = { repeats: true };
const IN_FIELDS = { fields: true };
const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/** The shortcuts of a group, each from its id, the pages, its keys, what it does, and more. */
const inGroup = (group, rows) =>
  rows.map(([id, pages, keys, help, more]) => ({ id, keys, pages, group, help, ...more }));

const SHORTCUTS = [
  ...inGroup("Play", [
    ["play", CLIP, ["Space"], "play or pause"],
    ["frameBack", CLIP, [","], "previous frame", REPEATS],
    ["frameOn", CLIP, ["."], "next frame", REPEATS],
    ["left", CLIP, ["ArrowLeft"], "previous frame (while a box is edited: move it left)", REPEATS],
    ["right", CLIP, ["ArrowRight"], "next frame (while a box is edited: move it right)", REPEATS],
    ["tenthBack", CLIP, [";"], "go back 0.1 s", REPEATS],
    ["tenthOn", CLIP, ["'"], "go forward 0.1 s", REPEATS],
    ["narrower", CLIP, ["Shift+ArrowLeft"], "go back 1 s (while a box is edited: reduce its width)", REPEATS],
    ["wider", CLIP, ["Shift+ArrowRight"], "go forward 1 s (while a box is edited: increase its width)", REPEATS],
    ["firstFrame", CLIP, ["Home"], "first frame"],
    ["lastFrame", CLIP, ["End"], "last frame"],
    ["playBack", CLIP, ["j"], "play backwards; press again to play faster"],
    ["pause", CLIP, ["k"], "pause"],
    ["playOn", CLIP, ["l"], "play forwards; press again to play faster"],
    ["slower", CLIP, ["-"], "play slower, down to 0.1×", REPEATS],
    ["faster", CLIP, ["=", "+"], "play faster, up to 4×", REPEATS],
    ["normalSpeed", CLIP, ["0"], "play at speed 1×"],
    ["nextView", CLIP, ["v"], "show the next view of the picture; after the last view, show all views"],
    ["zoomIn", CLIP, ["z"], "zoom into the timeline"],
    ["zoomOut", CLIP, ["Shift+z"], "zoom out of the timeline"],
  ]),
  ...inGroup("Event", [
    ["addEvent", EDITOR, ["a"], "add an event at this time"],
    ["setOnset", CLIP, ["[", "i"], "set the start of the span to this frame"],
    ["setOffset", CLIP, ["]", "o"], "set the end of the span to the end of this frame"],
    ["nextEvent", EDITOR, ["n"], "next event"],
    ["previousEvent", EDITOR, ["p"], "previous event"],
    ["goOnset", CLIP, ["{"], "go to the first frame of the span"],
    ["goOffset", CLIP, ["}"], "go to the last frame of the span"],
    ["loopEvent", CLIP, ["r"], "repeat the event with 1 s before and after it; press again to stop"],
    ["join", EDITOR, ["m"], "join this event to another event: press m, select the other event, press m again"],
    ["addSpan", EDITOR, ["s"], "add a span to the event at this time"],
    ["nextSpan", EDITOR, ["w"], "go to the next span of the event"],
    ["deleteSpan", EDITOR, ["Shift+Delete", "Shift+Backspace"], "delete the span"],
    ["dimension", EDITOR, DIGITS, "set the dimension of the event; if no event is selected, add an event"],
    ["type", CLIP, ["t"], "search for a type; Enter chooses the marked type"],
    ["severity", CLIP, ["Shift+1", "Shift+2", "Shift+3", "Shift+4", "Shift+5"], "severity"],
    ["describe", CLIP, ["d"], "write the description of the event; Esc leaves the text field"],
    ["box", EDITOR, ["b"], "draw a box on the picture: drag, or use the arrow keys; press again when the box is done"],
    ["up", EDITOR, ["ArrowUp"], "while a box is edited: move it up", REPEATS],
    ["down", EDITOR, ["ArrowDown"], "while a box is edited: move it down", REPEATS],
    ["shorter", EDITOR, ["Shift+ArrowUp"], "while a box is edited: reduce its height", REPEATS],
    ["taller", EDITOR, ["Shift+ArrowDown"], "while a box is edited: increase its height", REPEATS],
    ["deleteBox", EDITOR, ["Shift+b"], "delete the box"],
    ["deleteEvent", EDITOR, ["Delete", "Backspace"], "delete the event"],
  ]),
  ...inGroup("Review", [
    ["accept", REVIEW, ["y"], "accept the event unchanged"],
    ["reject", REVIEW, ["x"], "reject the event and give the reason"],
    ["edit", REVIEW, ["e"], "edit the event, starting with its type; every change counts as an edit"],
  ]),
  ...inGroup("Adjudicate", [
    ["take", ADJUDICATE, ["a", "b", "c"], "take the event of annotator A, B or C unchanged"],
    ["merge", ADJUDICATE, ["m"], "merge the annotators' events into one event that can be edited"],
    ["separate", ADJUDICATE, ["s"], "take all the annotators' events as separate events"],
    ["neither", ADJUDICATE, ["x"], "decide that there is no event, and use none of the annotators' events"],
    ["mergedDimension", ADJUDICATE, DIGITS, "set the dimension of the merged event"],
    ["comment", ADJUDICATE, ["w"], "write a comment on the disagreement; Esc leaves the text field"],
    ["nextOpenDisagreement", ADJUDICATE, ["Enter"], "next open disagreement"],
    ["nextDisagreement", ADJUDICATE, ["n"], "next disagreement"],
    ["previousDisagreement", ADJUDICATE, ["p"], "previous disagreement"],
  ]),
  ...inGroup("Clip", [
    ["undo", CLIP, ["u", "Ctrl+z"], "undo", REPEATS],
    ["redo", CLIP, ["Shift+u", "Ctrl+y", "Ctrl+Shift+z"], "redo", REPEATS],
    ["clean", EDITOR, ["c"], "mark the clip as clean (nothing is wrong); press again to remove the mark"],
    ["submit", CLIP, ["Ctrl+Enter"], "submit this clip and open the next clip", IN_FIELDS],
    ["nextClip", CLIP, ["PageDown"], "next clip of the queue"],
    ["previousClip", CLIP, ["PageUp"], "previous clip of the queue"],
    ["queue", CLIP, ["q"], "go back to the queue"],
    ["guide", CLIP, ["g"], "open the guide: types, severities, and the rules for several events with one cause"],
    ["leave", CLIP, ["Escape"], "leave a text field, stop the loop, or finish the box", IN_FIELDS],
  ]),
  ...inGroup("Queue", [
    ["nextRow", QUEUE, ["ArrowDown", "j"], "next clip", REPEATS],
    ["previousRow", QUEUE, ["ArrowUp", "k"], "previous clip", REPEATS],
    ["firstRow", QUEUE, ["Home"], "first clip"],
    ["lastRow", QUEUE, ["End"], "last clip"],
    ["nextOpen", QUEUE, ["n"], "next clip that is not submitted"],
    ["openClip", QUEUE, ["Enter"], "open the clip"],
    ["filter", QUEUE, ["/"], "filter the list; Esc goes back to the list"],
    ["leave", QUEUE, ["Escape"], "leave the filter", IN_FIELDS],
  ]),
  ...inGroup("Help", [
    ["help", ALL, ["?"], "show these keys"],
  ]),
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
 * Listen to the keys of a page. `actions` are by the id in the table, each called with the number of its key, from 0.
 * An action that returns false leaves the key to the browser.
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
