// Start a trial from an example or a pasted file, checked as you type; what was edited is kept until it is started.
import { get, getAll, hasScope, post } from "../core/api.js";
import { algorithmPicker } from "../components/algorithm_picker.js";
import { toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { draftOf, dropDraft, keepDraft } from "../core/drafts.js";
import { checkSoon, named } from "../components/file_check.js";
import { setText, verdict, yamlEditor } from "../components/yaml_editor.js";

const LAST = "new-trial"; // the example that was edited last
const draftName = (example) => `new-trial:${example ?? ""}`;
export const title = () => "Start a trial";
export const load = async () => {
  const [examples, catalog] = await Promise.all([getAll("/examples"), get("/catalog")]);
  return { examples, algorithms: catalog.algorithms };
};
export const onEvent = () => false;

export function view({ examples, algorithms }, context) {
  const { state } = context;
  if (state.text === undefined) {
    const wanted = context.query.example ?? draftOf(LAST)?.text;
    choose(examples.find((each) => each.name === wanted) ?? examples[0], context);
  }
  const { checked } = state;
  return [
    h("h1", { key: "h" }, "Start a trial"),
    h(
      "div",
      { class: "split", key: "split" },
      exampleList(examples, context),
      h(
        "section",
        { "aria-label": "Trial file" },
        yamlEditor({
          id: "file",
          label: "Trial file",
          hint: "(YAML): edit it or paste your own",
          text: state.text,
          problems: checked?.problems,
          draft: state.draft,
          discard: () => discard(examples, context),
          oninput: (text) => typed(text, context),
        }),
        verdict("file", checked),
        hasScope("operator")
          ? h(
              "div",
              { class: "row" },
              h("button", { disabled: !checked?.valid || state.starting, onclick: () => start(context) }, "Start the trial"),
            )
          : h("p", { class: "quiet" }, "To start trials you need a token of scope operator; with yours you can check files."),
        algorithmPicker(algorithms, context, (id) => {
          replaceText(withAlgorithm(state.text, id), context);
          context.redraw();
        }),
      ),
    ),
  ];
}

function exampleList(examples, context) {
  return h(
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
              "aria-pressed": context.state.example === each.name,
              onclick: () => {
                choose(each, context);
                context.redraw();
              },
            },
            h("strong", {}, each.name, draftOf(draftName(each.name)) ? " (edited)" : ""),
            h("span", {}, each.title),
          ),
        ),
      ),
    ),
  );
}

/** Show an example, or what was made of it: each has a draft of its own. */
function choose(example, context) {
  const { state } = context;
  state.example = example?.name;
  state.origin = example?.text ?? "";
  state.draft = draftOf(draftName(state.example));
  setText("file", state.draft?.text ?? state.origin);
  checkSoon(state.draft?.text ?? state.origin, context);
}

function discard(examples, context) {
  dropDraft(draftName(context.state.example));
  choose(
    examples.find((each) => each.name === context.state.example),
    context,
  );
  context.redraw();
}

function replaceText(text, context) {
  setText("file", text);
  typed(text, context);
}

function typed(text, context) {
  const { state } = context;
  keepDraft(draftName(state.example), text, state.origin);
  keepDraft(LAST, state.example ?? "");
  checkSoon(text, context);
}

/** The text with this algorithm for all players in the place of the one it has; players keep those of their own. */
export function withAlgorithm(text, id) {
  const section = /^algorithm:.*\n?(?:[ \t]+.*\n?)*/m;
  const line = `algorithm: {id: ${id}}\n`;
  if (section.test(text)) return text.replace(section, () => line);
  return text.replace(/\n*$/, "\n") + line;
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
    dropDraft(draftName(state.example));
    toast(`${made.name} was created.`);
    await context.go(`/trials/${made.id}`);
  } catch (problem) {
    toast(problem.message, "bad");
  }
  state.starting = false;
  context.redraw();
}
