// URLs of pages: the path names the page, the query holds the rest of a view's state.

/** Match a path against a pattern such as `/trials/:id/payoff`: its parameters, or null. */
export function match(pattern, path) {
  const wanted = pattern.split("/");
  const given = path.replace(/\/+$/, "").split("/");
  if (wanted.length !== given.length) return null;
  const found = {};
  for (const [place, part] of wanted.entries()) {
    if (part.startsWith(":")) found[part.slice(1)] = decodeURIComponent(given[place]);
    else if (part !== given[place]) return null;
  }
  return found;
}

export const query = () => Object.fromEntries(new URLSearchParams(location.search));

/** This page's URL with changed query parameters; empty values are removed. */
export function withQuery(changes) {
  const values = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") values.delete(name);
    else values.set(name, value);
  }
  const text = values.toString();
  return location.pathname + (text ? `?${text}` : "");
}

/** Follow links within the page without reloading the document; the API's files need a header, which no link can send. */
export function interceptLinks(go, openFile) {
  const opensFile = (event) => {
    const link = event.target.closest?.("a[href^='/api/']");
    if (!link || event.button > 1) return;
    event.preventDefault();
    openFile(link.getAttribute("href"), { save: link.hasAttribute("download") });
  };
  document.addEventListener("auxclick", opensFile);
  document.addEventListener("click", (event) => {
    opensFile(event);
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const url = new URL(link.getAttribute("href"), location.href); // `href` of a link within a picture is no string
    if (url.origin !== location.origin || link.target || link.hasAttribute("download") || link.dataset.outside) return;
    event.preventDefault();
    go(url.pathname + url.search);
  });
}
