// What the page asks its server.

/** An answer other than the expected one; `status` is 0 if the server could not be reached. */
class ServerError extends Error {
  constructor(status, answer) {
    super(answer?.error ?? (status === 0 ? "the server cannot be reached" : `the server answered with status ${status}`));
    this.status = status;
    this.answer = answer;
  }
}

let annotatorName = null;

/** From now on every change names its annotator, because the cookie may become that of another one. */
function askAs(name) {
  // A header has no other letters.
  annotatorName = /^[\x20-\x7e]+$/.test(name) ? name : null;
}

/** The JSON of an answer; throws a ServerError. */
async function ask(path, method = "GET", body = null) {
  const request = { method, headers: { Accept: "application/json" } };
  if (body !== null) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
    if (annotatorName !== null) request.headers["X-RoboGaze-Annotator"] = annotatorName;
  }
  const response = await fetch(path, request).catch(() => null);
  if (response === null) throw new ServerError(0, null);
  const answer = await response.json().catch(() => null);
  if (!response.ok || answer === null) throw new ServerError(response.ok ? 0 : response.status, answer);
  return answer;
}

const pagePath = (id) => `/clips/${encodeURIComponent(id)}`;
const clipPath = (id) => `/api/clips/${encodeURIComponent(id)}`;
