// Dialogs over the page. The browser closes them with Esc and gives the focus back.

/**
 * Show a dialog with some `choices`, an action by its label; `onClose` is called however it ends. A dialog with
 * `mustChoose` may open while someone is typing, so that no key closes it and no choice has the focus.
 */
function showDialog(title, content, choices = {}, { onClose = () => {}, mustChoose = false } = {}) {
  const buttons = Object.entries(choices).map(([label, act], place) =>
    make("button", { type: "button", autofocus: place === 0 && !mustChoose, onclick: () => close(act) }, label),
  );
  const closeButton = make("button", { type: "button", class: "close", onclick: () => close() }, "Close");
  const dialog = make(
    "dialog",
    { "aria-label": title, closedby: mustChoose ? "none" : null },
    make("header", {}, make("h2", {}, title), !mustChoose && closeButton),
    // With the focus here, PageDown, Home and End scroll the text.
    make(
      "div",
      {
        class: "dialog-body",
        tabindex: "0",
        role: "region",
        "aria-label": title,
        autofocus: mustChoose || buttons.length === 0,
      },
      content,
    ),
    buttons.length > 0 && make("div", { class: "buttons" }, buttons),
  );

  function close(act = () => {}) {
    dialog.close();
    act();
  }

  dialog.addEventListener("cancel", (event) => mustChoose && event.preventDefault());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onClose();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "?" || mustChoose) return;
    event.preventDefault(); // the key that opened the dialog closes it
    close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

const showShortcuts = (page) => showDialog("Keys", shortcutTable(page));
