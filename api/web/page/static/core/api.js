// Calls of the public REST API: JSON in and out, problems as errors, the session's CSRF word on changes.
const ROOT = "/api/v1";
const SIGNED_IN = "lanista-signed-in"; // the session itself is a cookie that scripts cannot read

export const session = { who: null, csrf: null, refusal: "" };

/** What the API refused, in its own words. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? `the server answered ${status}`);
    this.status = status;
    this.title = body.title ?? "Something went wrong";
    this.fields = body.errors ?? [];
  }
}

let reading = new AbortController(); // reads end with the session they belong to

export async function get(path, parameters = {}, signal = undefined) {
  const ends = signal ? AbortSignal.any([signal, reading.signal]) : reading.signal;
  return read(await fetch(address(path, parameters), { signal: ends }));
}

/** Every item of a list, page after page, up to a number. */
export async function getAll(path, parameters = {}, { most = 2000, signal } = {}) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { limit: Math.min(500, most), ...parameters, cursor }, signal);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < most);
  return items;
}

/** A change. The key makes a repeated call harmless. */
export async function send(method, path, body = undefined, headers = {}) {
  const key = method === "POST" ? { "Idempotency-Key": crypto.randomUUID?.() ?? String(Math.random()) } : {};
  const options = { method, headers: { "Content-Type": "application/json", "X-CSRF-Token": session.csrf ?? "", ...key, ...headers } };
  if (body !== undefined) options.body = JSON.stringify(body);
  return read(await fetch(ROOT + path, options));
}

export const post = (path, body) => send("POST", path, body);

export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return ROOT + path + (text ? `?${text}` : "");
}

async function read(answer) {
  if (answer.status === 204) return null;
  const text = await answer.text();
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    body = { detail: `the server answered ${answer.status} without JSON` };
    if (answer.ok) throw new Problem(answer.status, body);
  }
  if (answer.ok) return body;
  if (answer.status === 401) forget();
  throw new Problem(answer.status, body);
}

/** Take up the browser's session, if there is one. */
export async function resumeSession() {
  if (!localStorage.getItem(SIGNED_IN)) return;
  try {
    remember(await get("/session"));
  } catch (problem) {
    if (problem.status !== 401) throw problem;
  }
}

/** With a token, or with a one-time code; one that is refused ends no session that there was. */
export async function signIn(proof) {
  const before = session.who;
  try {
    remember(await post("/session", proof));
  } catch (problem) {
    if (before) remember(before);
    throw problem;
  }
}

/** The code of a sign-in link, taken out of the address before anything else happens. */
export function takeCode() {
  if (location.pathname !== "/signin") return null;
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  history.replaceState(null, "", "/trials");
  return code;
}

export async function signOut() {
  reading.abort();
  reading = new AbortController();
  await send("DELETE", "/session");
  forget();
}

export const may = (scope) => ["viewer", "operator", "admin"].indexOf(session.who?.scope) >= ["viewer", "operator", "admin"].indexOf(scope);

function remember(answer) {
  session.who = answer;
  session.csrf = answer.csrf_token;
  session.refusal = "";
  localStorage.setItem(SIGNED_IN, "yes");
}

function forget() {
  session.who = session.csrf = null;
  localStorage.removeItem(SIGNED_IN);
}
