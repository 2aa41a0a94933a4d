// What people ask is answered by the tasks and the recipes: a search lists them first, then the guides. The history comes last.
var Scorer = {
  score: ([page, , , , score]) =>
    score +
    (page.startsWith("docs/tasks/")
      ? 30
      : page === "docs/recipes"
        ? 25
        : /^(CHANGELOG|CONTRIBUTING|RELEASE|docs\/benchmarks)$/.test(page)
          ? -15
          : /^docs\/[a-z-]+$|^SECURITY$/.test(page)
            ? 10
            : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
