// Forwards to TensorBoard, by the link that the API makes for this session.
import { get } from "../core/api.js";
import { h } from "../core/dom.js";

export const title = () => "TensorBoard";
export const onEvent = () => false;

export async function load() {
  const link = (await get("/system")).links.tensorboard;
  if (link) location.replace(link);
  return { link };
}

export const view = ({ link }) =>
  h(
    "section",
    { class: "empty" },
    h("h1", {}, "TensorBoard"),
    h("p", {}, link ? "Opening TensorBoard …" : "This installation has no TensorBoard. ", h("a", { href: "/system" }, "System")),
  );
