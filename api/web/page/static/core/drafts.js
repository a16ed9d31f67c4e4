// Texts that a person has edited and not yet started, kept in the browser: Back, a reload or a crash loses nothing.
import { session } from "./api.js";

const address = (name) => `lanista-draft:${session.user?.name ?? ""}:${name}`;

/** The draft of this name: {text, at}, or null. */
export function draftOf(name) {
  try {
    const found = JSON.parse(localStorage.getItem(address(name)));
    return typeof found?.text === "string" ? found : null;
  } catch {
    return null; // not ours, or written by another release
  }
}

/** Keep the text; a text that is as it was first (`origin`) is no draft. */
export function keepDraft(name, text, origin = null) {
  if (text === origin) return dropDraft(name);
  try {
    localStorage.setItem(address(name), JSON.stringify({ text, at: new Date().toISOString() }));
  } catch {
    // the browser keeps no more: the text is still on the page
  }
}

export const dropDraft = (name) => localStorage.removeItem(address(name));
