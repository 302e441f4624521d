// Two browsers changed one clip: both versions are shown, and the person chooses.

/** `onKeep` is called for the version of this page, `onTake` for the other. */
function showConflict(mine, theirs, guide, { onKeep, onTake }) {
  const column = (title, { events, clean }) =>
    make(
      "section",
      {},
      make("h3", {}, title),
      clean && make("p", {}, "Marked as clean."),
      !clean && !events.length && make("p", {}, "No event."),
      make(
        "ul",
        {},
        inOrder(events).map((event) => make("li", {}, eventWords(event, guide))),
      ),
    );
  showDialog(
    "This clip was changed in another window",
    make("div", { class: "versions" }, column("In this window", mine), column("In the other window", theirs)),
    { "Keep this version": onKeep, "Take the other version": onTake },
    { mustChoose: true },
  );
}

function eventWords(event, guide) {
  const type = guide.type(event.type)?.name ?? "no type";
  const severity = event.severity === null ? "no severity" : `severity ${event.severity}`;
  const verdict = event.verdict ? `, ${event.verdict}` : "";
  const description = event.description ? `: ${event.description}` : "";
  return `${type}, ${severity}, ${event.spans.map(spanWords).join(", ")}${verdict}${description}`;
}
