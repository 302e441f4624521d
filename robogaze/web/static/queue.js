// The queue: the clips of an annotator, what is done, and what is left.

const MODE_WORDS = { annotate: "annotation", review: "review", adjudicate: "adjudication" };

openQueue().catch((error) => {
  document.querySelector("main").replaceChildren(make("p", { class: "problem", role: "alert" }, error.message));
  throw error;
});

async function openQueue() {
  const [guide, queue] = await Promise.all([ask("/api/guide"), ask("/api/queue")]);
  createQueue(guide, queue);
  document.querySelector("main").toggleAttribute("data-ready", true);
}

function createQueue({ mode, domain }, { annotator, clips, progress }) {
  const text = document.getElementById("filter");
  const status = document.getElementById("status");
  const shown = document.getElementById("shown");
  let visible = [];
  let current = null;
  const rows = createRows(document.querySelector(".clips"), clipRow);

  showProgress();
  text.addEventListener("input", filter);
  status.addEventListener("change", filter);
  filter();
  mark(visible.find((clip) => clip.status !== "submitted") ?? visible[0], false);

  function showProgress() {
    const { assigned, submitted, seconds_per_clip: perClip, seconds_left: left } = progress;
    document.getElementById("annotator").textContent =
      `${annotator} · ${MODE_WORDS[mode]} · ${domain.id} ${domain.version}`;
    const bar = document.querySelector("progress");
    bar.max = Math.max(assigned, 1);
    bar.value = submitted;
    document.getElementById("progress").textContent = [
      assigned > 0 && submitted === assigned && "all done",
      `${number(submitted)} of ${plural(assigned, "clip")} submitted`,
      perClip && `${durationWords(perClip)} per clip`,
      left && submitted < assigned && `about ${durationWords(left)} left`,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  function filter() {
    const words = text.value.toLowerCase();
    visible = clips.filter(
      (clip) =>
        (!status.value || clip.status === status.value) &&
        `${clip.clip_id}\n${clip.instruction ?? ""}`.toLowerCase().includes(words),
    );
    rows.show(visible);
    shown.textContent = `${number(visible.length)} of ${plural(clips.length, "clip")}`;
  }

  function clipRow(clip) {
    const path = pagePath(clip.clip_id);
    return rowLink(
      { href: path, title: clip.clip_id, isCurrent: clip === current, onOpen: () => location.assign(path) },
      make("img", { src: `${clipPath(clip.clip_id)}/thumbnail`, alt: "", loading: "lazy", width: "96", height: "72" }),
      make(
        "span",
        { class: "clip-id" },
        make("bdi", {}, clip.clip_id),
        clip.calibration && make("span", { class: "quiet" }, " calibration"),
      ),
      make("span", { class: "clip-status", "data-status": clip.status }, clip.status),
      make("span", { class: "clip-task", dir: "auto" }, clip.instruction ?? "no instruction"),
      make(
        "span",
        { class: "clip-found" },
        [
          clip.duration_s !== null && tenths(clip.duration_s),
          clip.seconds_spent > 0 && `${durationWords(clip.seconds_spent)} spent`,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    );
  }

  function mark(clip, focuses = true) {
    if (!clip) return;
    current = clip;
    rows.reveal(clip);
    for (const [item, element] of rows.drawn) element.firstChild.setAttribute("aria-current", String(item === clip));
    if (focuses) rows.drawn.get(clip).firstChild.focus({ preventScroll: true });
  }

  function move(by) {
    const at = visible.indexOf(current);
    mark(visible[Math.min(Math.max(at + by, 0), visible.length - 1)]);
  }

  listenToShortcuts("queue", {
    nextRow: () => move(1),
    previousRow: () => move(-1),
    firstRow: () => mark(visible[0]),
    lastRow: () => mark(visible.at(-1)),
    nextOpen() {
      const open = visible.filter((clip) => clip.status !== "submitted");
      mark(open.find((clip) => visible.indexOf(clip) > visible.indexOf(current)) ?? open[0]);
    },
    openClip: () => visible.includes(current) && location.assign(pagePath(current.clip_id)),
    filter: () => text.focus(),
    leave() {
      document.activeElement?.blur();
      mark(visible.includes(current) ? current : visible[0]);
    },
    help: () => showShortcuts("queue"),
  });
  document.getElementById("help").addEventListener("click", () => showShortcuts("queue"));
}

/** A length of work: 45 s, 3.2 min, 1.5 h. */
function durationWords(length_s) {
  if (length_s < 60) return `${Math.round(length_s)} s`;
  return length_s < 5400 ? `${(length_s / 60).toFixed(1)} min` : `${(length_s / 3600).toFixed(1)} h`;
}
