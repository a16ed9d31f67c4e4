// Start a sweep from a file, checked as you type; what was edited is kept until it is started.
import { hasScope, post } from "../core/api.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { draftOf, dropDraft, keepDraft } from "../core/drafts.js";
import { checkSoon, named } from "../components/file_check.js";
import { setText, verdict, yamlEditor } from "../components/yaml_editor.js";

const DRAFT = "new-sweep";
const EXAMPLE = `project: default
sweep: learning-rates
method: random
trials: 8
budget: {steps: 200_000}
metric: {name: win_rate, opponent: random}
space:
  algorithm.learning_rate: {log_uniform: [1.0e-4, 1.0e-2]}
trial:
  game: {id: tic_tac_toe}
  league:
    players:
      - {name: main, role: main}
      - {name: random, role: bot, bot: random}
`;
export const title = () => "Start a sweep";
export const onEvent = () => false;

export function view(_, context) {
  const { state } = context;
  if (state.text === undefined) {
    state.draft = draftOf(DRAFT);
    checkSoon(state.draft?.text ?? EXAMPLE, context, "/sweeps/validate");
  }
  return [
    h("h1", { key: "h" }, "Start a sweep"),
    h(
      "p",
      { class: "quiet", key: "about" },
      "A sweep starts trials that differ in the fields of its space, and stops bad ones early if its method does.",
    ),
    h(
      "section",
      { key: "file", "aria-label": "Sweep file" },
      yamlEditor({
        id: "sweep-file",
        label: "Sweep file",
        hint: "(YAML), with the trial itself as trial",
        text: state.text,
        problems: state.checked?.problems,
        draft: state.draft,
        discard: () => discard(context),
        oninput: (text) => {
          keepDraft(DRAFT, text, EXAMPLE);
          checkSoon(text, context, "/sweeps/validate");
        },
      }),
      verdict("sweep-file", state.checked),
      hasScope("operator")
        ? h("button", { disabled: !state.checked?.valid || state.starting, onclick: () => start(context) }, "Start the sweep")
        : h("p", { class: "quiet" }, "To start sweeps you need a token of scope operator; with yours you can check files."),
    ),
  ];
}

function discard(context) {
  dropDraft(DRAFT);
  context.state.draft = null;
  setText("sweep-file", EXAMPLE);
  checkSoon(EXAMPLE, context, "/sweeps/validate");
  context.redraw();
}

async function start(context) {
  const { state } = context;
  state.starting = true;
  context.redraw();
  try {
    const made = await post("/sweeps", {
      project: named(state.text, "project", "default"),
      name: named(state.text, "sweep", "sweep"),
      spec: state.checked.spec,
    });
    dropDraft(DRAFT);
    toast(`${made.name} was created.`);
    await context.go(`/sweeps/${made.id}`);
  } catch (problem) {
    toast(problem.message, "bad");
  }
  state.starting = false;
  context.redraw();
}
