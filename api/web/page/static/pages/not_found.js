// The page for unknown addresses.
import { h } from "../core/dom.js";

export const title = () => "Not found";
export const view = () =>
  h(
    "section",
    { class: "empty" },
    h("h1", {}, "Not found"),
    h("p", {}, `No page has the address ${location.pathname}. `, h("a", { href: "/trials" }, "All trials")),
  );
