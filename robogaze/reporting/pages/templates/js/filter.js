// The form that filters a list.

/** Connects the form to the page; `onFilter` is called with the values of its fields by name. */
function createFilter({ onFilter }) {
  const form = document.querySelector(".filter");
  const shown = form.querySelector(".shown");
  const names = [...form.querySelectorAll("[name]")].map((field) => field.name);
  const values = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
  form.addEventListener("input", () => onFilter(values()));
  form.addEventListener("submit", (event) => event.preventDefault());
  return {
    names,
    /** Set the fields of the form. */
    show(wanted) {
      for (const name of names)
        if (form.elements[name].value !== wanted[name]) form.elements[name].value = wanted[name];
    },
    /** Show how many of all entries are listed. */
    count(visible, all, noun) {
      shown.textContent =
        visible === all ? plural(all, noun) : `${number(visible)} of ${plural(all, noun)} shown`;
      form.querySelector(".all").hidden = visible === all;
    },
  };
}

/** Whether an entry contains all the words. */
const contains = (entry, words) =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => entry.text.includes(word));
