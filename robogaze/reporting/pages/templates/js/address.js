// The state of the page is in the address, so that any view can be linked and survives a reload.

/** Reads and writes these names of the address; a name that is not there is "". */
function createAddress(names) {
  const read = () => {
    const parameters = new URLSearchParams(location.hash.slice(1));
    return Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ""]));
  };
  return {
    read,
    /** Change some of it. */
    set(changes) {
      const parts = Object.entries({ ...read(), ...changes }).filter(([, value]) => value);
      history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
    },
  };
}
