// An address that no page has.
import { h } from "../core/dom.js";

export const title = () => "Not found";
export const view = () =>
  h(
    "section",
    { class: "empty" },
    h("h1", {}, "There is nothing here"),
    h("p", {}, `No page has the address ${location.pathname}. `, h("a", { href: "/trials" }, "All trials")),
  );
