// Creates elements, and patches the document to match new ones: only differences change, so live updates do not flicker.
const SVG = "http://www.w3.org/2000/svg";
const FIELD = /^(INPUT|SELECT|TEXTAREA)$/;

/** An element: attributes, handlers as `onclick: fn`, `key` for its identity among siblings, then children. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG elements. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || (value === false && !name.startsWith("aria-"))) continue;
    if (name.startsWith("on")) listen(element, name.slice(2), value);
    else if (name === "key") element.dataset.key = value;
    else if (
      name === "value" &&
      "value" in element &&
      element.tagName !== "OPTION" &&
      element.tagName !== "LI" &&
      element.tagName !== "PROGRESS"
    )
      element.value = value;
    else if (name === "checked") element.checked = true;
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  if (element.tagName === "SELECT" && "value" in attributes) element.value = attributes.value;
  if (FIELD.test(element.tagName)) element.initial = { value: element.value, checked: element.checked };
  return element;
}

// One listener per event type looks up the current handler, so patching only swaps handlers.
function listen(element, kind, handler) {
  element.handlers ??= {};
  if (!(kind in element.handlers)) element.addEventListener(kind, (event) => element.handlers[kind]?.(event));
  element.handlers[kind] = handler;
}

/** Make the children of `parent` equal to `fresh`, reusing every node that matches. */
export function patchChildren(parent, fresh) {
  const wanted = [...fresh].filter((node) => node !== null && node !== undefined && node !== false);
  const keyed = new Map([...parent.children].filter((node) => node.dataset?.key).map((node) => [node.dataset.key, node]));
  let place = parent.firstChild;
  for (const node of wanted) {
    const existing = node.dataset?.key ? keyed.get(node.dataset.key) : place;
    if (existing && matches(existing, node)) {
      if (existing !== place) parent.insertBefore(existing, place);
      else place = place.nextSibling;
      patch(existing, node);
    } else {
      parent.insertBefore(node, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function matches(old, fresh) {
  return (
    old.nodeType === fresh.nodeType &&
    old.nodeName === fresh.nodeName &&
    old.dataset?.key === fresh.dataset?.key &&
    !(old.nodeType === 1 && old.dataset.keep !== fresh.dataset.keep)
  );
}

function patch(old, fresh) {
  if (old.nodeType !== 1) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  patchAttributes(old, fresh);
  for (const [kind, handler] of Object.entries(fresh.handlers ?? {})) listen(old, kind, handler);
  for (const kind of Object.keys(old.handlers ?? {})) if (!fresh.handlers?.[kind]) old.handlers[kind] = undefined;
  if (old.dataset.keep) {
    old.draw = fresh.draw; // a chart: the drawing library owns its content
    return;
  }
  patchChildren(old, [...fresh.childNodes]);
  if (fresh.initial && old.initial) patchField(old, fresh.initial);
}

// What the user typed or selected is kept until the page sets another value.
function patchField(field, initial) {
  for (const name of ["value", "checked"]) {
    if (field.initial[name] === initial[name]) continue;
    if (field !== document.activeElement) field[name] = initial[name]; // the user is not typing there
    if (field[name] === initial[name]) field.initial[name] = initial[name];
  }
}

function patchAttributes(old, fresh) {
  const drawn = Boolean(old.dataset.keep);
  for (const { name } of Array.from(old.attributes)) {
    const keep = name === "open" || (drawn && ["class", "style", "data-drawn"].includes(name));
    if (!fresh.hasAttribute(name) && !keep) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (drawn && name === "class") continue;
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}
