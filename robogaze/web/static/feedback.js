// After a calibration clip: the annotator's events against those of the key.

/** The annotators whose kappa on the training clips is above this are the senior ones of RoboGaze (A.2.3). */
const SENIOR_KAPPA = 0.78;

function showFeedback({ kappa, matched, missed, extra }, events, guide, onClose) {
  const mine = (id) => events.find((event) => event.id === id);
  const list = (title, items) =>
    items.length > 0 && [
      make("h3", {}, title),
      make(
        "ul",
        {},
        items.map((item) => make("li", {}, item)),
      ),
    ];
  const content = [
    make("p", {}, kappaWords(kappa)),
    list(
      "Found",
      matched.map((match) => [
        eventWords(mine(match.event), guide),
        make("br"),
        make("span", { class: "quiet" }, `answer key: ${eventWords(match.key, guide)}; ${differenceWords(match)}`),
      ]),
    ),
    list(
      "Missed",
      missed.map((event) => eventWords(event, guide)),
    ),
    list(
      "Not in the answer key",
      extra.map((id) => eventWords(mine(id), guide)),
    ),
    !matched.length &&
      !missed.length &&
      !extra.length &&
      make("p", {}, "Correct: you marked no event, and the answer key has none."),
  ];
  showDialog("Comparison with the answer key", content, { Continue: () => {} }, { onClose });
}

function kappaWords({ clips, detection, dimension }) {
  const value = (kappa) => (kappa === null ? "not defined yet" : kappa.toFixed(2));
  return (
    `Kappa over ${plural(clips, "calibration clip")}: ${value(detection)} for detection, ${value(dimension)} for the ` +
    `dimension. Senior annotators of RoboGaze have a kappa above ${SENIOR_KAPPA}.`
  );
}

function differenceWords({ iou, same_dimension, same_type, severity_difference }) {
  const label = same_type ? "same type" : same_dimension ? "same dimension, different type" : "different dimension";
  const severity =
    severity_difference === null
      ? "no severity"
      : severity_difference === 0
        ? "same severity"
        : `severity ${severity_difference > 0 ? "higher" : "lower"} by ${Math.abs(severity_difference)}`;
  return `IoU ${iou.toFixed(2)}, ${label}, ${severity}`;
}
