// The guide: the types of the domain, what their spans cover, the severities, and the cascade rule.

/** The guide from the server's answer: its parts by id, and the views of it. */
function createGuide(answer) {
  const dimensions = new Map(answer.dimensions.map((dimension, place) => [dimension.id, { ...dimension, place }]));
  const types = new Map(
    answer.dimensions.flatMap((dimension) =>
      dimension.types.map((type) => [type.id, { ...type, dimension: dimension.id }]),
    ),
  );
  const nameOf = (type) => types.get(type)?.name ?? type;

  function factsOf(type) {
    const facts = [
      [
        "Visible signs",
        type.cues?.length > 0 &&
          make(
            "ul",
            {},
            type.cues.map((cue) => make("li", {}, cue)),
          ),
      ],
      ["The span covers", `${type.span.covers}: from ${type.span.starts} to ${type.span.ends}`],
      [
        "Not to be confused with",
        type.confused_with?.length > 0 &&
          make(
            "ul",
            {},
            type.confused_with.map((other) => make("li", {}, make("b", {}, nameOf(other.type)), `: ${other.tell}`)),
          ),
      ],
      ["Usual severity", type.severity && severityWords(type.severity)],
      ["Limits the evidence", type.evidence_limiting && "whatever an event of this type hides cannot be judged"],
    ];
    return make(
      "dl",
      { class: "facts" },
      facts
        .filter(([, value]) => value)
        .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
  }

  function severityWords(level) {
    const found = answer.severity.find((severity) => severity.level === level);
    return found ? `${level} ${found.name}` : `${level}`;
  }

  const severityTable = () =>
    make(
      "dl",
      { class: "facts severities" },
      answer.severity.map(({ level, name, definition }) =>
        make("div", {}, make("dt", {}, badge(level), name), make("dd", {}, definition)),
      ),
    );

  const rules = () => [
    make("h3", {}, "When one cause leads to several events"),
    make("p", {}, answer.cascade),
    make("h3", {}, "What is not an event"),
    make(
      "ul",
      {},
      answer.not_annotated.map((sentence) => make("li", {}, sentence)),
    ),
  ];

  function whole() {
    return [
      make("h3", {}, "Severity"),
      severityTable(),
      rules(),
      [...dimensions.values()].map((dimension) =>
        make(
          "section",
          {},
          make("h3", {}, make("kbd", {}, `${dimension.place + 1}`), " ", dimension.name),
          dimension.types.map((type) =>
            make("details", {}, make("summary", {}, make("b", {}, type.name), " ", type.definition), factsOf(type)),
          ),
        ),
      ),
    ];
  }

  return {
    dimensions: [...dimensions.values()],
    severities: answer.severity,
    dimension: (id) => dimensions.get(id) ?? null,
    type: (id) => types.get(id) ?? null,
    /** The types that fit a search, those of a dimension first. */
    search(text, dimension) {
      const words = text.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = (type) => {
        const all = `${type.name} ${type.id} ${dimensions.get(type.dimension).name}`.toLowerCase();
        return words.every((word) => all.includes(word));
      };
      const found = [...types.values()].filter(fits);
      return dimension === null
        ? found
        : [
            ...found.filter((type) => type.dimension === dimension),
            ...found.filter((type) => type.dimension !== dimension),
          ];
    },
    /** All about a type, under its name. */
    typeFacts: (type) => [make("h3", {}, type.name), make("p", {}, type.definition), factsOf(type)],
    /** What helps before a type is chosen. */
    basics: () => [make("h3", {}, "Severity"), severityTable(), ...rules()],
    show: () => showDialog("Guide", whole()),
  };
}
