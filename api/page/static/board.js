// A position as a picture, always on light ground: the games draw with dark ink.
import { h } from "./dom.js";

export function board(position) {
  const picture = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(position.svg)}`; // as an image it cannot run anything
  return h("img", { class: "board", src: picture, alt: `The position after ${position.ply} moves: ${position.text}` });
}

/** The legal actions with the probabilities a version gives them. */
export function opinions(position) {
  const legal = [...(position.legal[0] ?? [])].sort((a, b) => (b.probability ?? 0) - (a.probability ?? 0));
  return legal.map((each) => ({ key: each.action, name: each.name + (position.actions.includes(each.action) ? " ◂ played" : ""), share: each.probability ?? 0 }));
}
