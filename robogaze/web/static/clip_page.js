// What the pages of one clip share: how the clip is loaded, its video, what is said and saved, leaving, and the keys that
// play it.

const home = document.getElementById("editor");

/** Load the clip of the address and call `create` with it, the guide, what the server says of this person, and the queue. */
async function openClip(create) {
  try {
    const id = decodeURIComponent(location.pathname.split("/").at(-1));
    const [person, clip, queue] = await Promise.all([ask("/api/guide"), ask(clipPath(id)), ask("/api/queue")]);
    askAs(person.annotator);
    create({ ...clip, media: { video: clip.video } }, createGuide(person), person, queue.clips);
  } catch (error) {
    const problem = make("p", { class: "problem", role: "alert" }, error.message);
    home.replaceChildren(problem, make("a", { href: "/" }, "Queue"));
    throw error;
  }
}

/** The video of a clip. The server's own copy is tried before the video counts as broken. */
function makeClipVideo(clip) {
  const video = makeVideo(clip);
  video.setAttribute("aria-label", "the clip");
  video.addEventListener("error", (event) => {
    if (video.getAttribute("src") !== clip.video) return;
    event.stopImmediatePropagation();
    video.src = `${clip.video}?proxy=1`;
  });
  return video;
}

/**
 * The frame of a page of one clip: its header, its messages, what is saved, and how it is left. `buttons` are part of the
 * header; `mode` is the page's name in the table of keys.
 */
function createClipPage(clip, guide, { annotator }, clips, mode, buttons) {
  const place = clips.findIndex((each) => each.clip_id === clip.clip_id);
  const saved = make("output", { class: "saved", role: "status", "data-state": "saved" });
  const message = make("p", { class: "message", role: "status" });
  let saver = null;

  function say(text, isProblem = false) {
    message.textContent = text;
    message.toggleAttribute("data-problem", isProblem);
  }

  function showSaved(state, why) {
    saved.dataset.state = state;
    saved.textContent = { saved: "Saved", saving: "Saving …", unsaved: "Not saved" }[state] + (why ? `: ${why}` : "");
  }

  const warn = (event) => saver.isSaved() || event.preventDefault();

  async function leave(path) {
    if (await saver.flush()) return location.assign(path);
    showDialog("Not saved", make("p", {}, "The last changes are not saved. If you leave now, these changes are lost."), {
      Stay: () => {},
      "Leave without saving": () => {
        removeEventListener("beforeunload", warn);
        location.assign(path);
      },
    });
  }

  function goToClip(by) {
    const next = clips[place + by];
    if (next) leave(pagePath(next.clip_id));
    else say(by > 0 ? "This is the last clip of the queue." : "This is the first clip of the queue.");
  }

  return {
    say,
    /** Save from now on. `parts` are those of `createSaver` but for how the state is shown. */
    save(parts) {
      saver = createSaver(clip.clip_id, clip.annotation.revision, { ...parts, onState: showSaved });
      addEventListener("beforeunload", warn);
      if (clip.annotation.revision) showSaved("saved", "");
      return saver;
    },
    /** Put the page together; `panel` is beside the player. */
    show(picture, transport, panel, panelName, tracks) {
      home.replaceChildren(
        make(
          "header",
          { class: "bar-top" },
          make("a", { href: "/", title: "q", onclick: (event) => (event.preventDefault(), leave("/")) }, "Queue"),
          make("h1", {}, make("bdi", {}, clip.clip_id)),
          make("span", { class: "quiet" }, place < 0 ? "" : `${place + 1} of ${clips.length} · ${annotator}`),
          saved,
          buttons,
          make("button", { type: "button", onclick: guide.show }, "Guide (g)"),
          make("button", { type: "button", onclick: () => showShortcuts(mode) }, "Keys (?)"),
        ),
        clip.instruction
          ? make("p", { class: "instruction", dir: "auto" }, clip.instruction)
          : make("p", { class: "quiet" }, "No instruction was given for this clip."),
        make(
          "div",
          { class: "player-and-events" },
          make("div", { class: "player" }, picture.element, transport.element, message),
          make("div", { class: "panel", tabindex: "0", role: "region", "aria-label": panelName }, panel),
        ),
        tracks.element,
      );
      document.title = `${clip.clip_id} – RoboGaze`;
    },
    /** What the keys do that play the clip, zoom and leave. */
    keys: (playback, transport, picture, tracks) => ({
      play: transport.toggle,
      frameBack: () => transport.step(-1),
      frameOn: () => transport.step(1),
      left: () => transport.step(-1),
      right: () => transport.step(1),
      narrower: () => transport.goTo(playback.time() - 1),
      wider: () => transport.goTo(playback.time() + 1),
      tenthBack: () => transport.stepTenths(-1),
      tenthOn: () => transport.stepTenths(1),
      firstFrame: () => transport.goTo(0),
      lastFrame: () => transport.goTo(clip.frame_times_s.at(-1)),
      playBack: transport.playBack,
      pause: transport.pause,
      playOn: transport.playOn,
      slower: transport.slower,
      faster: transport.faster,
      normalSpeed: transport.normalSpeed,
      nextView: () => (picture.hasViews ? transport.nextView() : say("This clip has only one view.")),
      zoomIn: tracks.zoomIn,
      zoomOut: tracks.zoomOut,
      nextClip: () => goToClip(1),
      previousClip: () => goToClip(-1),
      queue: () => leave("/"),
      guide: guide.show,
      help: () => showShortcuts(mode),
    }),
  };
}

/** What the guide says of types beside the form, or what helps before a type is chosen. */
function createTypeFacts(guide) {
  const element = make("section", { class: "type-facts", "aria-label": "guide" });
  const show = (...types) =>
    element.replaceChildren(...(types.length ? types.flatMap(guide.typeFacts) : guide.basics()));
  return { element, show };
}

/** Leave the field that has the focus, otherwise do something else. */
function leaveField(otherwise) {
  if (document.activeElement?.matches("input, textarea, select")) document.activeElement.blur();
  else otherwise();
}

/** Say that the page is ready once the first frame can be shown and marked. */
function readyWithVideo(video) {
  const makeReady = () => home.toggleAttribute("data-ready", true);
  if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) makeReady();
  else for (const name of ["loadeddata", "error"]) video.addEventListener(name, makeReady, { once: true });
}

/** The time of the last frame in a span. */
const lastTimeIn = (clip, span) => clip.frame_times_s[frameAt(clip, span.end_s - 1e-3)];
