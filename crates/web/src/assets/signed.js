// Shared by the pages of those who sign in: what they ask and do at the server, and lists that stay while nothing changes.
"use strict";
/** How often such a page looks for changes, in milliseconds. */
const OFTEN = 5000;
/** What each list shows, as JSON: it is drawn again only if that has changed. */
const drawn = new Map();
/** Shows what there is at the server now: that of the page. */
let look = async () => {};

/** Sends a request. Throws what the server says is wrong. */
async function ask(method, path, body) {
  const [type, sent] = body instanceof Blob ? ["application/x-tar", body] : ["application/json", JSON.stringify(body)];
  const answer = await fetch(`${root}api/v1/${path}`, { method, ...body === undefined ? {} : { headers: { "Content-Type": type }, body: sent } });
  const text = await answer.text();
  await released();
  const json = text && answer.headers.get("Content-Type") === "application/json" ? JSON.parse(text) : text;
  if (answer.ok) return json;
  throw Object.assign(new Error(json.error ?? `the server answers with ${answer.status}`), { status: answer.status });
}

function tell(text, isBad = false) {
  $("told").hidden = !text;
  $("told").className = isBad ? "notice bad" : "notice";
  $("told").replaceChildren(...text ? [element("p", {}, text)] : []);
}

/** Does something at the server, says so, and shows what has changed. Returns the answer, or null if it was not done. */
async function act(done, method, path, body) {
  tell("");
  try {
    const answer = await ask(method, path, body);
    await look();
    tell(done);
    return answer;
  } catch (error) {
    tell(error.message, true);
    return null;
  }
}

const onSubmit = (form, work) => $(form).addEventListener("submit", (event) => {
  event.preventDefault();
  work();
});

/** Whether something is to be shown anew: it has changed. */
function isNew(id, value) {
  const sign = JSON.stringify(value);
  return drawn.get(id) !== sign && Boolean(drawn.set(id, sign));
}

/** Draws a list again if what it shows has changed, and nothing in it is open; `none` stands in an empty one. */
function list(id, values, draw, none) {
  if ($(id).querySelector("details[open]") || !isNew(id, values)) return;
  $(id).replaceChildren(...values.length || !none ? values.map(draw) : [element("li", { class: "muted" }, none)]);
}

function button(text, of, work, danger = false) {
  const made = element("button", { type: "button", ...danger ? { class: "danger" } : {} }, text, element("span", { class: "hide" }, ` ${of}`));
  made.addEventListener("click", work);
  return made;
}

/** The address of the pages of a ladder, if it has pages. */
function pagesOf({ watch_port: port, url }) {
  if (url) return url.endsWith("/") ? url : `${url}/`;
  return port ? `${location.protocol}//${location.hostname}:${port}/` : null;
}

/** Looks for changes from now on. */
async function follow() {
  try {
    await look();
    hearing(true);
  } catch (error) {
    hearing(Boolean(error.status));
    if (error.status) $("state").textContent = error.message;
  }
  setTimeout(follow, OFTEN);
}
