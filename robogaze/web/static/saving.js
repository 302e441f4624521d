// Every change is saved soon, one request at a time; it is shown as saved only after the server has confirmed it.

const WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;

/**
 * Saves the annotation of a clip. `read` returns what is to be saved; `onState` is called with "saved", "saving" or
 * "unsaved" and the reason; `onConflict` with the newer annotation that another browser saved; `onRefused` with the
 * errors of the server, empty once there are none.
 */
function createSaver(clipId, firstRevision, { read, onState, onConflict, onRefused }) {
  let revision = firstRevision;
  let isDirty = false;
  let request = null;
  let timer = null;
  let failures = 0;
  let hold = null; // why nothing is sent: "conflict" until it is resolved, "refused" until the next change

  function later(wait) {
    clearTimeout(timer);
    timer = setTimeout(send, wait);
  }

  /** Send what is not saved; resolves when the server has answered. */
  function send() {
    clearTimeout(timer);
    if (request) return request;
    if (!isDirty || hold) return Promise.resolve();
    isDirty = false;
    onState("saving", "");
    request = ask(clipPath(clipId), "PUT", { base_revision: revision, ...read() })
      .then(accept, refuse)
      .finally(() => {
        request = null;
        if (isDirty && !hold) later(failures ? Math.min(250 * 2 ** failures, LONGEST_WAIT_MS) : 0);
      });
    return request;
  }

  function accept(answer) {
    revision = answer.revision;
    failures = 0;
    onRefused([]);
    onState(isDirty ? "saving" : "saved", "");
  }

  function refuse(error) {
    isDirty = true;
    onState("unsaved", error.message);
    const isAnswer = error.status === 409 || error.status === 422;
    failures = isAnswer ? 0 : failures + 1;
    if (error.status === 409) {
      hold = "conflict";
      onConflict(error.answer.annotation);
    } else if (error.status === 422) {
      hold = "refused";
      onRefused(error.answer?.errors ?? []);
    }
  }

  return {
    revision: () => revision,
    isSaved: () => !isDirty && request === null,
    /** Something changed. */
    touch() {
      isDirty = true;
      if (hold === "refused") hold = null;
      if (hold) return;
      if (!failures) onState("saving", "");
      if (!request && !failures) later(WAIT_MS);
    },
    /** After a conflict: continue from the newer revision, and save this page's version over it if `keep`. */
    resolve(newer, keep) {
      revision = newer;
      hold = null;
      isDirty = keep;
      if (keep) send();
      else onState("saved", "");
    },
    /** Save what is left now; whether everything is saved. */
    async flush() {
      while (request) await request;
      await send();
      return !isDirty;
    },
  };
}
