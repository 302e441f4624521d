// How long a person works on a clip: the time in which the page is in view and was used within the last minute.

const IDLE_S = 60;

/** Counts on from `beforeS`; returns a function that gives the seconds so far. */
function countWorkTime(beforeS) {
  let total = beforeS;
  let last = performance.now() / 1000;

  function secondsSoFar() {
    const now = performance.now() / 1000;
    if (!document.hidden) total += Math.min(now - last, IDLE_S);
    last = now;
    return Math.round(total * 10) / 10;
  }

  for (const name of ["keydown", "pointerdown", "pointermove", "visibilitychange"])
    addEventListener(name, secondsSoFar, { capture: true, passive: true });
  return secondsSoFar;
}
