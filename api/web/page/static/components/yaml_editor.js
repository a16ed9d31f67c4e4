// A text area for YAML with line numbers, lines with problems marked, and a draft that outlives the page.
import { h, patchChildren } from "../core/dom.js";
import { time } from "./widgets.js";

/**
 * An editor. `problems` are those of POST /trials/validate; `draft` is {at} where the text is a restored draft, which
 * `discard` gives up.
 */
export function yamlEditor({ id, label, hint, text, problems = [], draft = null, discard, oninput, rows = 26 }) {
  const area = h("textarea", {
    id,
    rows,
    spellcheck: "false",
    autocapitalize: "off",
    wrap: "off",
    value: text,
    "aria-describedby": `${id}-verdict`,
    "aria-invalid": problems.length > 0,
    oninput: (event) => {
      showNumbers(event.target, []);
      oninput(event.target.value);
    },
    onscroll: (event) => follow(event.target),
  });
  return h(
    "div",
    { class: "editor-field" },
    h("label", { for: id }, h("strong", {}, label), hint ? ` ${hint}` : ""),
    draft &&
      h(
        "p",
        { class: "draft", role: "status" },
        "Your draft of ",
        time(draft.at),
        " was restored. ",
        h("button", { class: "plain", type: "button", onclick: discard }, "Discard the draft"),
      ),
    h("div", { class: "editor" }, h("ol", { class: "line-numbers", "aria-hidden": "true" }, numbers(text, problems)), area),
  );
}

function numbers(text, problems) {
  const wrong = new Map(problems.filter((each) => each.line).map((each) => [each.line, each.message]));
  return text.split("\n").map((_, place) => {
    const message = wrong.get(place + 1);
    return h("li", { class: message ? "wrong" : null, title: message ?? null }, String(place + 1));
  });
}

function showNumbers(area, problems) {
  const gutter = area.previousElementSibling;
  patchChildren(gutter, numbers(area.value, problems));
  follow(area);
}

const follow = (area) => {
  area.previousElementSibling.scrollTop = area.scrollTop;
};

/** Replace the text, also where the person has typed. */
export function setText(id, text) {
  const area = document.getElementById(id);
  if (!area) return;
  area.value = text;
  showNumbers(area, []);
}

/** Put the cursor into a line, and show it. */
function goTo(id, line) {
  const area = document.getElementById(id);
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  area.scrollTop = Math.max(0, (line - 4) * (area.scrollHeight / Math.max(1, lines.length)));
}

/** What the check of a file said; a problem's line leads to it. `valid` are words for a file without problems. */
export function verdict(id, checked, valid = "✓ This file is valid.") {
  return h("div", { id: `${id}-verdict`, class: "verdict", role: "status" }, verdictText(id, checked, valid));
}

function verdictText(id, checked, valid) {
  if (!checked) return h("p", { class: "quiet" }, "Checking …");
  if (checked.valid) return [h("p", { class: "good" }, valid), checked.not_checked && h("p", { class: "quiet" }, checked.not_checked)];
  return [
    h("p", { class: "bad" }, checked.problems.length === 1 ? "1 problem:" : `${checked.problems.length} problems:`),
    h(
      "ul",
      { class: "problems" },
      checked.problems.map((problem) =>
        h(
          "li",
          {},
          problem.line
            ? h("button", { class: "line", type: "button", onclick: () => goTo(id, problem.line) }, `line ${problem.line}`)
            : null,
          problem.line ? ": " : "",
          problem.path ? h("code", {}, problem.path) : null,
          " ",
          problem.message,
          problem.value === null ? "" : ` (given: ${problem.value})`,
        ),
      ),
    ),
  ];
}
