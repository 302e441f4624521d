// What a person does to the events: every change of the annotation by key, form or timeline is one of these.

const NO_EVENT = "Select an event first: press n for the next event, or a for a new event.";
const NO_MODEL_EVENT = "Only events of the model can be accepted or rejected.";

/**
 * The edits of a clip's annotation, and which event and span they act on. `now` gives the time at which something is
 * marked; `onSelect` is called when another event or span is selected, and `say` with what could not be done.
 */
function createEdits(clip, annotation, { now, onSelect, say }) {
  let selected = null; // id of an event
  let spanNumber = 0;
  let stroke = 0; // counts what is undone together
  let isDragging = false;
  let part = null; // id of an event that is a part of the one that is selected next

  const events = () => annotation.state().events;
  const current = () => events().find((event) => event.id === selected) ?? null;

  function select(event, number) {
    if (selected === event.id && spanNumber === number) return;
    [selected, spanNumber] = [event.id, number];
    onSelect();
  }

  /** Act on the selected event. */
  const onEvent = (act) => {
    const event = current();
    if (event) act(event);
    else say(NO_EVENT);
  };

  function update(changes, strokeName = null) {
    onEvent((event) =>
      annotation.change({ events: withEvent(events(), edited(event, changes)), clean: false }, strokeName),
    );
  }

  /** Change the spans of the event, and select the span that has a time. */
  function setSpans(spans, time, strokeName = null) {
    const next = joined(spans);
    spanNumber = spanAt(next, time);
    update({ spans: next }, strokeName);
  }

  function setEdge(change, time) {
    onEvent((event) => {
      const old = event.spans[spanNumber];
      const span = old ? change(clip, old, time) : leastSpan(clip, time);
      setSpans([...event.spans.filter((each) => each !== old), span], span.start_s);
    });
  }

  /** What a reviewer says about the model's event, which does not edit it. */
  function judge(changes, strokeName = null) {
    onEvent((event) => {
      if (event.origin === "person") return say(NO_MODEL_EVENT);
      const judged = { ...event, ...changes };
      const clean = annotation.state().clean && isRejected(judged);
      annotation.change({ events: withEvent(events(), judged), clean }, strokeName);
    });
  }

  return {
    current,
    spanNumber: () => spanNumber,
    currentSpan: () => current()?.spans[spanNumber] ?? null,
    isDragging: () => isDragging,
    select,
    update,
    setOnset: (time) => setEdge(withStart, time),
    setOffset: (time) => setEdge(withEnd, time),
    add(changes = {}) {
      const event = { ...newEvent(events(), leastSpan(clip, now())), ...changes };
      [selected, spanNumber] = [event.id, 0];
      annotation.change({ events: [...events(), event], clean: false });
    },
    remove() {
      onEvent((event) => {
        if (event.origin !== "person") return say("An event of the model cannot be deleted. Press x to reject the event.", true);
        annotation.change({ events: events().filter((each) => each !== event) });
      });
    },
    /** Two events are one: the selected one, and after the next press the one that is selected then, which stays. */
    join() {
      onEvent((event) => {
        const joining = events().find(({ id }) => id === part);
        if (!joining || joining === event) {
          part = joining ? null : event.id;
          return say(part ? "To join this event to another event, select the other event (n, p) and press m again. To cancel, press m on this event." : "The events were not joined.");
        }
        part = null;
        const others = events().filter((other) => other !== joining || joining.origin !== "person");
        const rest = others.map((other) => (other === joining ? { ...other, ...partOf(event) } : other));
        spanNumber = 0;
        annotation.change({ events: withEvent(rest, edited(event, united(event, joining))), clean: false });
      });
    },
    addSpan() {
      onEvent((event) => {
        const span = leastSpan(clip, now());
        const meets = (other) => span.start_s <= other.end_s + 1e-6 && span.end_s >= other.start_s - 1e-6;
        if (event.spans.some(meets)) return say("This event already has a span at this time. Go to a time outside the span.");
        setSpans([...event.spans, span], span.start_s);
      });
    },
    removeSpan() {
      onEvent((event) => {
        if (event.spans.length < 2) return say("An event needs at least one span. Press Delete to delete the event.");
        setSpans(
          event.spans.filter((_, number) => number !== spanNumber),
          -1,
        );
      });
    },
    /** A span is dragged to another place; once it is dropped, spans that meet become one. */
    drag(event, number, span, isDropped) {
      const before = events().find(({ id }) => id === event.id);
      const spans = before.spans.map((old, place) => (place === number ? span : old));
      isDragging = !isDropped;
      if (!isDropped) return update({ spans }, `drag ${stroke}`);
      setSpans(spans, span.start_s, `drag ${stroke}`);
      stroke += 1;
    },
    setBox: (box) => update({ box: box && { ...box, time_s: toGrid(now()) } }, `box ${stroke}`),
    /** What follows is undone by itself. */
    endStroke() {
      stroke += 1;
    },
    toggleClean() {
      const { clean } = annotation.state();
      if (!clean && !events().every(isRejected))
        return say("A clip with events is not clean. Delete or reject the events first.", true);
      annotation.change({ clean: !clean });
    },
    accept: () => judge({ verdict: current()?.origin === "edited" ? "edited" : "accepted" }),
    reject: () => judge({ verdict: "rejected" }),
    giveReason: (reason) => judge({ reason }, `reason ${selected}`),
  };
}
