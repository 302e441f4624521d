// The events of the clip as a list, with what each event lacks; the selected event is pressed.

function createEventList(guide, { onSelect }) {
  const list = make("ol", { class: "events" });
  const words = make("h2", {});
  const empty = make("p", { class: "quiet" });

  function row(event, selected, errors) {
    const missing = lacks(event);
    const wrong = errors.filter((error) => error.event === event.id).map((error) => error.message);
    const need = missing.length ? `needs ${missing.join(", ")}` : "";
    return make(
      "li",
      { "data-verdict": event.verdict },
      make(
        "button",
        {
          type: "button",
          "aria-pressed": String(event.id === selected),
          "data-event": event.id,
          onclick: () => onSelect(event, 0),
        },
        make("span", { class: "swatch", "data-place": guide.dimension(event.dimension)?.place ?? "none" }),
        badge(event.severity),
        make("span", { class: "claim-name" }, guide.type(event.type)?.name ?? "no type yet"),
        (event.verdict ?? (event.origin === "model" && "not reviewed")) &&
          make("span", { class: "verdict" }, event.verdict ?? "not reviewed"),
        make("span", { class: "claim-when" }, event.spans.map(spanWords).join(", ")),
        [need, ...wrong].filter(Boolean).map((text) => make("span", { class: "need" }, text)),
      ),
    );
  }

  return {
    element: make("section", { "aria-label": "events" }, words, empty, list),
    draw({ events, clean }, selected, errors) {
      const kept = events.filter((event) => !isRejected(event)).length;
      words.textContent = clean ? "Clean" : kept ? plural(kept, "event") : "No event yet";
      empty.textContent = clean ? "Marked as clean: nothing is wrong in this clip." : "";
      if (!clean && !events.length)
        empty.textContent = "Press a to add an event, c if nothing is wrong, or ? to see all keys.";
      empty.hidden = empty.textContent === "";
      const focus = document.activeElement?.dataset.event;
      list.replaceChildren(...inOrder(events).map((event) => row(event, selected, errors)));
      if (focus) list.querySelector(`[data-event="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    },
  };
}
