// How fast videos play. A choice holds for every clip that is opened after it.

const SPEEDS = [1, 0.5, 0.25];
let speedNow = SPEEDS[0];

/** A group of buttons; `onChange` is called with the speed. */
function createSpeed({ onChange }) {
  const buttons = SPEEDS.map((speed) =>
    make("button", { type: "button", title: "speed (s)", onclick: () => set(speed) }, `${speed}×`),
  );

  function mark() {
    SPEEDS.forEach((speed, place) => buttons[place].setAttribute("aria-pressed", String(speed === speedNow)));
  }

  function set(speed) {
    speedNow = speed;
    mark();
    onChange(speed);
  }

  mark();
  return {
    element: make("span", { class: "speeds", role: "group", "aria-label": "speed" }, buttons),
    /** Choose the next slower speed; full speed comes after the slowest. */
    next: () => set(SPEEDS[(SPEEDS.indexOf(speedNow) + 1) % SPEEDS.length]),
  };
}
