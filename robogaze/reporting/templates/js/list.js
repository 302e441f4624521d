// The list of clips and its filter.

const FILTERS = ["text", "status", "dimension", "severity"];

/** Ties the list to the address: `onFilter` is called with what the reader set. */
function createList({ onFilter, onOpen }) {
  const form = document.querySelector(".filter");
  const shown = document.querySelector(".shown");
  const items = [...document.querySelectorAll(".clips > li")];
  const links = items.map((item) => item.querySelector("a")).filter(Boolean);

  const values = () => Object.fromEntries(FILTERS.map((name) => [name, form.elements[name].value]));
  form.addEventListener("input", () => onFilter(values()));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const link of links)
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      onOpen(link.dataset.clip);
    });
  for (const link of document.querySelectorAll("[data-status-link]"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      onFilter({ text: "", status: link.dataset.statusLink, dimension: "", severity: "" });
    });

  return {
    indexOf: (id) => links.find((link) => link.dataset.clip === id)?.dataset.index,
    /** The id of the visible clip that stands `by` places after another. */
    neighbour(id, by) {
      const visible = links.filter((link) => !link.closest("li").hidden);
      const at = visible.findIndex((link) => link.dataset.clip === id);
      return visible[Math.min(Math.max(at + by, 0), visible.length - 1)]?.dataset.clip;
    },
    first: () => links.find((link) => !link.closest("li").hidden)?.dataset.clip ?? links[0]?.dataset.clip,
    apply(wanted) {
      for (const name of FILTERS)
        if (form.elements[name].value !== wanted[name]) form.elements[name].value = wanted[name];
      for (const item of items) item.hidden = !matches(item.dataset, wanted);
      const visible = items.filter((item) => !item.hidden).length;
      shown.textContent =
        visible === items.length
          ? `${plural(items.length, "clip")}`
          : `${visible} of ${plural(items.length, "clip")} shown`;
      for (const link of document.querySelectorAll(".tile"))
        link.toggleAttribute("data-on", link.dataset.statusLink === wanted.status);
    },
    mark(id) {
      for (const link of links) {
        const here = link.dataset.clip === id;
        link.setAttribute("aria-current", String(here));
        if (here) link.scrollIntoView({ block: "nearest" });
      }
    },
  };
}

function matches(item, { text, status, dimension, severity }) {
  return (
    (!text || item.text.includes(text.toLowerCase())) &&
    (!status || item.status.split(" ").includes(status)) &&
    (!dimension || item.dimensions.split(" ").includes(dimension)) &&
    (!severity || Number(item.worst) >= Number(severity))
  );
}
