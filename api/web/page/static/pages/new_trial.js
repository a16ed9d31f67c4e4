// Start a trial from an example or a pasted file, checked as you type.
import { get, getAll, post } from "../core/api.js";
import { algorithmPicker } from "../components/algorithm_picker.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";

const PAUSE_MS = 250;
export const title = () => "Start a trial";
export const load = async () => {
  const [examples, catalog] = await Promise.all([getAll("/examples"), get("/catalog")]);
  return { examples, algorithms: catalog.algorithms };
};
export const onEvent = () => false;

export function view({ examples, algorithms }, context) {
  const { state } = context;
  if (state.text === undefined) choose(examples.find((each) => each.name === context.query.example) ?? examples[0], context);
  const { checked } = state;
  return [
    h("h1", { key: "h" }, "Start a trial"),
    h(
      "div",
      { class: "split", key: "split" },
      h(
        "section",
        { "aria-label": "Examples" },
        h("h2", {}, "Examples"),
        h(
          "ul",
          { class: "choices" },
          examples.map((each) =>
            h(
              "li",
              { key: each.name },
              h(
                "button",
                {
                  class: "choice",
                  "aria-pressed": state.example === each.name,
                  onclick: () => {
                    choose(each, context);
                    context.redraw();
                  },
                },
                h("strong", {}, each.name),
                h("span", {}, each.title),
              ),
            ),
          ),
        ),
      ),
      h(
        "section",
        { "aria-label": "Trial file" },
        h("label", { for: "file" }, h("strong", {}, "Trial file"), " (YAML): edit it or paste your own"),
        h("textarea", {
          id: "file",
          rows: 26,
          spellcheck: "false",
          value: state.text,
          "aria-describedby": "verdict",
          oninput: (event) => typed(event.target.value, context),
        }),
        h("div", { id: "verdict", role: "status" }, verdict(checked)),
        h(
          "div",
          { class: "row" },
          h("button", { disabled: !checked?.valid || state.starting, onclick: () => start(context) }, "Start the trial"),
        ),
        algorithmPicker(algorithms, context, (id) => {
          replaceText(withAlgorithm(state.text, id), context);
          context.redraw();
        }),
      ),
    ),
  ];
}

function verdict(checked) {
  if (!checked) return h("p", { class: "quiet" }, "Checking …");
  if (checked.valid) return h("p", { class: "good" }, "✓ This file is valid.");
  return [
    h("p", { class: "bad" }, checked.problems.length === 1 ? "1 problem:" : `${checked.problems.length} problems:`),
    h(
      "ul",
      { class: "problems" },
      checked.problems.map((problem) =>
        h(
          "li",
          {},
          problem.line ? h("strong", {}, `line ${problem.line}: `) : null,
          problem.path ? h("code", {}, problem.path) : null,
          " ",
          problem.message,
          problem.value === null ? "" : ` (given: ${problem.value})`,
        ),
      ),
    ),
  ];
}

function choose(example, context) {
  context.state.example = example?.name;
  replaceText(example?.text ?? "", context);
}

function replaceText(text, context) {
  const area = document.getElementById("file");
  if (area) area.value = text;
  typed(text, context);
}

/** The text with this algorithm for all players in the place of the one it has; players keep those of their own. */
export function withAlgorithm(text, id) {
  const section = /^algorithm:.*\n?(?:[ \t]+.*\n?)*/m;
  const line = `algorithm: {id: ${id}}\n`;
  if (section.test(text)) return text.replace(section, () => line);
  return text.replace(/\n*$/, "\n") + line;
}

function typed(text, context) {
  const { state } = context;
  state.text = text;
  state.checked = null;
  clearTimeout(state.timer);
  state.timer = setTimeout(async () => {
    try {
      const checked = await post("/trials/validate", { text });
      if (state.text === text) state.checked = checked;
    } catch (problem) {
      state.checked = { valid: false, problems: [{ path: "", message: problem.message, value: null, line: null }] };
    }
    if (location.pathname === "/trials/new") context.redraw();
  }, PAUSE_MS);
}

/** `project` and `trial` are read from the text; the validated spec has everything else. */
function named(text, key, otherwise) {
  const found = text.match(new RegExp(`^${key}:\\s*["']?([a-z0-9-]+)`, "m"));
  return found ? found[1] : otherwise;
}

async function start(context) {
  const { state } = context;
  state.starting = true;
  context.redraw();
  try {
    const made = await post("/trials", {
      project: named(state.text, "project", "default"),
      name: named(state.text, "trial", "trial"),
      spec: state.checked.spec,
    });
    toast(`${made.name} was created.`);
    await context.go(`/trials/${made.id}`);
  } catch (problem) {
    toast(problem.message, "bad");
  }
  state.starting = false;
  context.redraw();
}
