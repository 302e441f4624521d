// The form that says which entries of a list are wanted.

/** Ties the form to the page; `onFilter` is called with what the reader set, by the names of the form's fields. */
function createFilter({ onFilter }) {
  const form = document.querySelector(".filter");
  const shown = form.querySelector(".shown");
  const names = [...form.querySelectorAll("[name]")].map((field) => field.name);
  const values = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value]));
  form.addEventListener("input", () => onFilter(values()));
  form.addEventListener("submit", (event) => event.preventDefault());
  return {
    names,
    /** Set the form to what is wanted. */
    show(wanted) {
      for (const name of names)
        if (form.elements[name].value !== wanted[name]) form.elements[name].value = wanted[name];
    },
    /** Say how many of all entries are listed. */
    count(visible, all, noun) {
      shown.textContent =
        visible === all ? plural(all, noun) : `${number(visible)} of ${plural(all, noun)} shown`;
    },
  };
}

/** Whether an entry says all the words that are looked for. */
const says = (entry, words) =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => entry.text.includes(word));
