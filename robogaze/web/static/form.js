// The fields of the selected event. They follow the annotation, except a field in which someone is writing.

/**
 * The form; `onChange` is called with changes of the event and the name of the stroke they belong to, or null,
 * `onSpan` with the number of the span that is chosen, `onVerdict` with "accepted" or "rejected", `onReason` with why the
 * event is rejected, and `onTypeMarked` with the type that is marked in the search, or nothing for none.
 */
function createForm(clip, guide, { onChange, onSpan, onVerdict, onReason, onDelete, onTypeMarked }) {
  let event = null;
  const dimension = make(
    "select",
    { id: "dimension", onchange: () => onChange(ofDimension(event, dimension.value || null, guide)) },
    make("option", { value: "" }, `choose a dimension (1 to ${guide.dimensions.length})`),
    guide.dimensions.map(({ id, name, place }) => make("option", { value: id }, `${place + 1} ${name}`)),
  );
  const type = createTypeSearch(guide, {
    onChoose: (chosen) => onChange({ type: chosen.id, dimension: chosen.dimension }),
    onMark: (marked) => onTypeMarked(...(marked ? [marked] : [])),
  });
  const severity = make(
    "div",
    { class: "levels", role: "group", "aria-label": "severity" },
    guide.severities.map(({ level, name, definition }) =>
      make(
        "button",
        { type: "button", title: definition, "data-severity": level, onclick: () => onChange({ severity: level }) },
        make("b", {}, level),
        ` ${name}`,
      ),
    ),
  );
  const spans = make("ol", { class: "span-fields" });
  const description = make("textarea", {
    id: "description",
    rows: "3",
    placeholder: "what is affected, what goes wrong, in which phase of the task",
    oninput: () => onChange({ description: description.value }, `description ${event.id}`),
  });
  const reason = make("input", {
    id: "reason",
    type: "text",
    oninput: () => onReason(reason.value),
  });
  const verdictButtons = ["accepted", "rejected"].map((verdict) =>
    make("button", { type: "button", "data-verdict": verdict, onclick: () => onVerdict(verdict) }, VERDICTS[verdict]),
  );
  const origin = make("span", { class: "quiet" });
  const reasonField = field("Reason", "reason", reason);
  const review = make(
    "div",
    { class: "verdicts" },
    make("div", { class: "buttons" }, verdictButtons, origin),
    reasonField,
  );
  const box = make("p", { class: "quiet" });
  const deletion = make(
    "div",
    { class: "buttons" },
    make("button", { type: "button", onclick: () => onDelete() }, "Delete event"),
  );
  const element = make(
    "form",
    { class: "event-form", "aria-label": "selected event", onsubmit: (submit) => submit.preventDefault() },
    review,
    field("Dimension", "dimension", dimension),
    field("Type", "type", type.element),
    make("div", { class: "field" }, make("span", { class: "name" }, "Severity"), severity),
    make("div", { class: "field" }, make("span", { class: "name" }, "Spans"), spans),
    field("Description", "description", description),
    box,
    deletion,
  );

  function write(input, value) {
    if (document.activeElement !== input) input.value = value;
  }

  function showSpans(current) {
    if (spans.contains(document.activeElement) && spans.children.length === event.spans.length)
      return markSpan(current);
    spans.replaceChildren(
      ...event.spans.map((span, number) =>
        make(
          "li",
          {},
          timeField(`start of span ${number + 1}`, span.start_s, (time) =>
            setSpan(number, withStart(clip, event.spans[number], time)),
          ),
          "–",
          timeField(`end of span ${number + 1}`, span.end_s, (time) =>
            setSpan(number, withEnd(clip, event.spans[number], time)),
          ),
          " s ",
          make("button", { type: "button", onclick: () => onSpan(number) }, "go"),
        ),
      ),
    );
    markSpan(current);
  }

  const markSpan = (current) =>
    [...spans.children].forEach((item, number) => item.toggleAttribute("data-current", number === current));

  function setSpan(number, span) {
    onChange({ spans: joined(event.spans.map((old, place) => (place === number ? span : old))) });
  }

  return {
    element,
    show(shown, spanNumber, isReview) {
      const isOther = shown.id !== event?.id;
      event = shown;
      if (isOther && element.contains(document.activeElement)) document.activeElement.blur();
      dimension.value = event.dimension ?? "";
      type.show(event);
      for (const button of severity.children)
        button.setAttribute("aria-pressed", String(Number(button.dataset.severity) === event.severity));
      showSpans(spanNumber);
      write(description, event.description);
      write(reason, event.reason);
      review.hidden = !isReview || event.origin === "person";
      deletion.hidden = event.origin !== "person";
      reasonField.hidden = !isRejected(event);
      origin.textContent = event.origin === "edited" ? "from the model, and edited" : "from the model";
      for (const button of verdictButtons)
        button.setAttribute("aria-pressed", String(button.dataset.verdict === event.verdict));
      box.textContent = event.box ? `Box on the picture at ${tenths(event.box.time_s)}.` : "No box on the picture (press b to draw one).";
    },
    searchType: () => type.focus(),
    describe: () => description.focus(),
    giveReason: () => reason.focus(),
  };
}

const VERDICTS = { accepted: "Accept (y)", rejected: "Reject (x)" };

const field = (name, id, input) =>
  make("div", { class: "field" }, make("label", { for: id, class: "name" }, name), input);

/** What changes when an event gets a dimension: its type stays only if it belongs there. */
const ofDimension = (event, dimension, guide) => ({
  dimension,
  type: guide.type(event.type)?.dimension === dimension ? event.type : null,
});

function timeField(label, value, onTime) {
  return make("input", {
    type: "number",
    step: "0.1",
    min: "0",
    "aria-label": label,
    value: value.toFixed(1),
    onchange: ({ target }) => Number.isFinite(target.valueAsNumber) && onTime(target.valueAsNumber),
  });
}

/** A field that searches the types; `onChoose` is called with a type. */
function createTypeSearch(guide, { onChoose, onMark }) {
  let event = null;
  let found = [];
  let marked = 0;
  const input = make("input", {
    id: "type",
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "search for a type (t)",
    "aria-expanded": "false",
    "aria-controls": "types",
    "aria-autocomplete": "list",
    oninput: search,
    onfocus() {
      input.value = "";
      search();
    },
    onblur: close,
    onkeydown,
  });
  const options = make("ul", { id: "types", role: "listbox", "aria-label": "types", hidden: true });

  function search() {
    found = guide.search(input.value, event.dimension);
    marked = 0;
    options.replaceChildren(...found.map(option));
    options.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(!options.hidden));
    mark(0);
  }

  const option = (type, place) =>
    make(
      "li",
      {
        role: "option",
        id: `type-${place}`,
        onpointerdown: (pointer) => pointer.preventDefault(),
        onclick: () => choose(type),
      },
      make("span", { class: "swatch", "data-place": guide.dimension(type.dimension).place }),
      make("b", {}, type.name),
      make("span", { class: "quiet" }, type.definition),
    );

  function mark(place) {
    marked = place;
    [...options.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === place)));
    if (found.length) input.setAttribute("aria-activedescendant", `type-${place}`);
    else input.removeAttribute("aria-activedescendant");
    options.children[place]?.scrollIntoView({ block: "nearest" });
    onMark(found[place] ?? null);
  }

  function choose(type) {
    input.blur();
    onChoose(type);
  }

  function close() {
    options.hidden = true;
    input.setAttribute("aria-expanded", "false");
    if (event) input.value = guide.type(event.type)?.name ?? "";
    onMark(event && guide.type(event.type));
  }

  function onkeydown(key) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[key.key];
    if (by && found.length) mark((marked + by + found.length) % found.length);
    else if (key.key === "Enter" && !key.ctrlKey && found.length) choose(found[marked]);
    else return;
    key.preventDefault();
  }

  return {
    element: make("div", { class: "search" }, input, options),
    focus: () => input.focus(),
    show(shown) {
      event = shown;
      if (document.activeElement !== input) input.value = guide.type(event.type)?.name ?? "";
    },
  };
}
