// Parts of a page that are read by themselves: where one cannot be read, the rest is shown, with the error in the part's place.
const AGAIN_MS = 10_000; // before a part that failed is asked for again
const problems = new WeakMap();
let again = null;
let ask = () => {};

/** `reload` is called a while after a part could not be read. */
export function retryParts(reload) {
  ask = reload;
}

/** What was read; or else `without`, an object or a list of its own, with the problem that `problemOf` gives. */
export async function part(reading, without = []) {
  try {
    return await reading;
  } catch (problem) {
    const words = wordsOf(problem);
    if (!words) throw problem;
    problems.set(without, words);
    again ??= setTimeout(() => {
      again = null;
      ask();
    }, AGAIN_MS);
    return without;
  }
}

/** What became of the request; null where no page can be shown (nobody is signed in), or where the error is the page's own. */
function wordsOf({ status, message, name }) {
  if (status) return status === 401 ? null : message.replace(/\.$/, "");
  return name === "TypeError" && /fetch|network|load failed/i.test(message) ? "the API did not answer" : null;
}

/** Why a part could not be read, in words; undefined if it was. */
export const problemOf = (value) => problems.get(value);
