// A list of thousands of rows, of which only those in view are in the page.

const SPARE_ROWS = 6;

/**
 * Rows of one height in a box that scrolls; `draw(item)` makes the content of a row. A row stays the same element
 * while it is in view, so that it keeps the focus.
 */
function createRows(box, draw) {
  const list = box.querySelector("ol");
  const drawn = new Map(); // by item
  let items = [];
  let height = 0;

  function row(item, place) {
    const element = drawn.get(item) ?? make("li", {}, draw(item));
    element.setAttribute("aria-setsize", items.length);
    element.setAttribute("aria-posinset", place + 1);
    element.style.setProperty("top", `${place * height}px`);
    return element;
  }

  function measure() {
    const probe = make("li");
    list.append(probe);
    height = probe.getBoundingClientRect().height;
    probe.remove();
    list.style.setProperty("height", `${items.length * height}px`);
  }

  function update() {
    const first = Math.max(Math.floor(box.scrollTop / height) - SPARE_ROWS, 0);
    const last = Math.ceil((box.scrollTop + box.clientHeight) / height) + SPARE_ROWS;
    const wanted = items.slice(first, last);
    const here = new Set(wanted);
    for (const [item, element] of drawn)
      if (!here.has(item)) {
        element.remove();
        drawn.delete(item);
      }
    wanted.forEach((item, place) => {
      const element = row(item, first + place);
      drawn.set(item, element);
      // In the order of the list, because the Tab key follows it; a row that is already in its place is not moved.
      if (list.children[place] !== element) list.insertBefore(element, list.children[place] ?? null);
    });
  }

  /** Scroll the box, not the page, until an item is in view. */
  function reveal(item) {
    const top = items.indexOf(item) * height;
    if (top < 0) return;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    update();
  }

  box.addEventListener("scroll", update, { passive: true });
  // Keys can be faster than scroll events; without a drawn row the Tab key would leave the list.
  box.addEventListener("focusin", ({ target }) => {
    if (!target.matches(":focus-visible")) return;
    for (const [item, element] of drawn)
      if (element.contains(target)) {
        reveal(item);
        return;
      }
  });
  addEventListener("resize", () => {
    measure();
    update();
  });
  return {
    show(wanted) {
      if (wanted.length === items.length && wanted.every((item, place) => item === items[place])) return;
      items = wanted;
      measure();
      update();
    },
    reveal,
    /** The elements in view, by item. */
    drawn,
  };
}

/** The content of a row: a link, which can also be opened in a new tab. */
function rowLink({ href, title, isCurrent, onOpen }, ...children) {
  return make(
    "a",
    {
      href,
      title,
      "aria-current": String(isCurrent),
      onclick(event) {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onOpen();
      },
    },
    ...children,
  );
}
