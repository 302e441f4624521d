// An enlarged element of the page, above everything else.

/** Shows `element` enlarged, or in its place again; while it is enlarged, nothing behind it can be reached. */
function createLarge(element, { onChange }) {
  let behind = [];
  let cameFrom = null; // what had the focus

  function set(isLarge) {
    if (isLarge === element.hasAttribute("data-large")) return;
    if (isLarge) cameFrom = document.activeElement;
    element.toggleAttribute("data-large", isLarge);
    for (const other of behind) other.inert = false;
    behind = isLarge ? surroundings(element) : [];
    for (const other of behind) other.inert = true;
    for (const [name, value] of Object.entries({ role: "dialog", "aria-modal": "true", "aria-label": "large view" }))
      if (isLarge) element.setAttribute(name, value);
      else element.removeAttribute(name);
    onChange(isLarge);
    if (!isLarge) cameFrom?.focus({ preventScroll: true });
  }

  return { set, toggle: () => set(!element.hasAttribute("data-large")), isOn: () => element.hasAttribute("data-large") };
}

/** The siblings of an element and of each element that contains it. */
function surroundings(element) {
  const found = [];
  for (let inner = element; inner !== document.body; inner = inner.parentElement)
    found.push(...[...inner.parentElement.children].filter((other) => other !== inner && !other.inert));
  return found;
}
