// The algorithms of the catalog with their options, to put one into a trial file.
import { h } from "../core/dom.js";

/** `use(id)` is called with the algorithm that was chosen. */
export function algorithmPicker(algorithms, context, use) {
  const { state } = context;
  const chosen = algorithms.find((each) => each.name === state.algorithm) ?? algorithms[0];
  return h(
    "div",
    { class: "picker", key: "picker" },
    h("h2", {}, "Algorithms"),
    h("label", { for: "algorithm" }, "Algorithm of all players"),
    h(
      "div",
      { class: "row" },
      h(
        "select",
        {
          id: "algorithm",
          onchange: (event) => {
            state.algorithm = event.target.value;
            context.redraw();
          },
        },
        algorithms.map((each) => h("option", { value: each.name, selected: each.name === chosen.name }, each.name)),
      ),
      h("button", { class: "plain", onclick: () => use(chosen.name) }, "Put into the file"),
    ),
    h("p", { class: "quiet" }, chosen.description),
    options(chosen.options_schema),
  );
}

function options(schema) {
  if (!schema) return h("p", { class: "quiet" }, "Its options are known to the package that it comes from.");
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties).filter(([name]) => name !== "id");
  return h(
    "details",
    {},
    h("summary", {}, `${rows.length} options`),
    h(
      "dl",
      { class: "options" },
      rows.flatMap(([name, option]) => [
        h("dt", { key: `t-${name}` }, h("code", {}, name), " ", value(option, required.has(name))),
        h("dd", { key: `d-${name}` }, option.description ?? ""),
      ]),
    ),
  );
}

function value(option, required) {
  return h("span", { class: "quiet" }, required ? "required" : JSON.stringify(option.default));
}
