// The annotation of a clip: its events, whether it is clean, and every state before this one.

/** The state of an annotation, which is never changed in place; `onChange` is called with every new state. */
function createAnnotation(first, onChange) {
  let state = first;
  let past = [];
  let future = [];
  let lastStroke = null;

  function become(next) {
    state = next;
    lastStroke = null;
    onChange(state);
  }

  return {
    state: () => state,
    /** Change the state. Changes of one `stroke` in a row, such as the letters of a word, are undone together. */
    change(changes, stroke = null) {
      if (stroke === null || stroke !== lastStroke) past.push(state);
      future = [];
      become({ ...state, ...changes });
      lastStroke = stroke;
    },
    undo() {
      if (!past.length) return;
      future.push(state);
      become(past.pop());
    },
    redo() {
      if (!future.length) return;
      past.push(state);
      become(future.pop());
    },
  };
}

const withEvent = (events, changed) => events.map((event) => (event.id === changed.id ? changed : event));

/** Events in the order of the timeline. */
const inOrder = (events) => [...events].sort((a, b) => onsetOf(a) - onsetOf(b) || a.id.localeCompare(b.id));

const isRejected = (event) => event.verdict === "rejected";

function newEvent(events, span) {
  const taken = new Set(events.map((event) => event.id));
  let number = events.length + 1;
  while (taken.has(`e${number}`)) number += 1;
  return {
    id: `e${number}`,
    dimension: null,
    type: null,
    secondary: [],
    spans: [span],
    severity: null,
    description: "",
    box: null,
    origin: "person",
    verdict: null,
    reason: "",
  };
}

/** The event with changes; a change to what a model said is an edit. */
function edited(event, changes) {
  const fromModel = event.origin === "model" || event.origin === "edited";
  return { ...event, ...changes, ...(fromModel && { origin: "edited", verdict: "edited" }) };
}

/** What joining a part to an event changes: its spans, and its description if the part says something else. */
function united(event, part) {
  const texts = new Set([event.description, part.description].map((text) => text.trim()).filter(Boolean));
  return { spans: joined([...event.spans, ...part.spans]), description: [...texts].join(" ") };
}

/** A model's event that was joined to another one is not reported a second time. */
const partOf = ({ id }) => ({ verdict: "rejected", reason: `part of ${id}` });

/** What an event lacks before it can be submitted; empty if nothing. */
function lacks(event) {
  if (isRejected(event)) return event.reason.trim() ? [] : ["reason"];
  const missing = ["dimension", "type", "severity"].filter((field) => event[field] === null);
  if (!event.spans.length) missing.push("span");
  if (!event.description.trim() && event.origin !== "model") missing.push("description");
  if (event.origin === "model" && event.verdict === null) missing.push("verdict");
  return missing;
}

/** The events of a saved annotation and those of a review that it does not have yet. */
function startingEvents(annotation, review) {
  const known = new Set(annotation.events.map((event) => event.id));
  const events = [...annotation.events, ...(review?.events ?? []).filter((event) => !known.has(event.id))];
  // The server derives the frames of a span; the page only knows times.
  return events.map((event) => ({ ...event, spans: event.spans.map(({ start_s, end_s }) => ({ start_s, end_s })) }));
}
