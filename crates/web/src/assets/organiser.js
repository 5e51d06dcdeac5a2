// The page of organisers: what goes on, and what they decide.
"use strict";
{
  let shown = null;

  /** Decides something. Returns whether it was done. */
  const decide = async (done, decision) => await act(done, "POST", "organiser/acts", decision) !== null;

  /** A fold with a field that has to be filled in: a reason, or the name of what is removed. */
  function asking(text, of, label, work) {
    const input = element("input", { required: "", maxlength: 500, "aria-label": `${label}: ${of}` });
    const form = element("form", { class: "fields pager" }, element("div", { class: "grow" }, input), element("button", { class: "danger", type: "submit" }, text));
    const made = element("details", {}, element("summary", { class: "small" }, text, element("span", { class: "hide" }, ` ${of}`)), element("p", { class: "note" }, `${label}.`), form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      made.open = false;
      work(input.value);
    });
    return made;
  }

  /** Removes something whose name was written. */
  const ifNamed = (name, work) => (written) => (written === name ? work() : tell(`Nothing was done: ${written} is not ${name}.`, true));

  const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
  const line = (main, acts, ...more) => element("li", {}, element("div", { class: "row acts" }, element("span", { class: "grow" }, ...main), ...acts), ...more);
  const tag = (text, kind = "") => element("span", { class: `tag ${kind}` }, text);
  const small = (text) => element("p", { class: "small muted" }, text);

  function toMatch(ladder, id) {
    const pages = pagesOf(shown.ladders.find(({ name }) => name === ladder) ?? {});
    return pages ? element("a", { href: `${pages}matches/${id}` }, id) : element("span", {}, id);
  }

  function pauseButton(paused, of, part) {
    return paused ? button("Resume", of, () => decide(`${of} is resumed.`, { act: "resume", ...part })) : button("Pause", of, () => decide(`${of} is paused.`, { act: "pause", ...part }));
  }

  /** Says until when a ladder is closed by an event: the organiser cannot resume it. */
  function closing({ name, closed_since: since }) {
    const opens = shown.events.find(({ what, ladder }) => what === "open" && (ladder ?? name) === name);
    return small(`Closed by an event at ${minute(since)} UTC${opens ? ` until ${minute(opens.at)} UTC` : "; no event opens it again"}.`);
  }

  function ladder(facts) {
    const { name, game, paused, closed_since: closed, waits_for_storage: full, rules_fail: broken, online, running, jobs, next, queued, last_result: last } = facts;
    const tags = [paused && tag("paused", "warn"), closed && tag("closed", "warn"), full && tag("waits for the disk", "bad"), broken && tag("its rules fail", "bad")].filter(Boolean);
    const waiting = next.slice(0, 5).map(({ sides, why }) => `${sides.flat().join(" – ")} (${why})`);
    return line([element("b", {}, name), ` ${game} `, ...tags], [pauseButton(paused, name, { ladder: name })],
      small(`${online} online, ${running} of ${jobs} matches in progress${queued ? `, ${queued} wait for a worker` : ""}, ${last ? `last result ${minute(last)}` : "no result yet"}`),
      ...closed ? [closing(facts)] : [],
      ...waiting.length ? [small(`Next: ${waiting.join("; ")}${next.length > 5 ? ` and ${next.length - 5} more` : ""}`)] : []);
  }

  function submission({ id, owner, bot, version, state, approved, changed_at: at }) {
    const name = bot ? `${bot}@${version}` : `submission ${id}`, waits = state === "waiting" && !approved;
    return line([element("b", {}, name), ` of ${owner} `, tag(state, waits ? "warn" : "info")],
      waits ? [button("Approve", name, () => decide(`${name} plays.`, { act: "approve_submission", submission: id }))] : [],
      small(`since ${minute(at)}`),
      ...waits ? [asking("Reject", name, "Reason, which its owner reads", (reason) => decide(`${name} is rejected.`, { act: "reject_submission", submission: id, reason }))] : []);
  }

  function bot({ name, display_name: display, owner, connects, paused, ended, online, stuck, last_match: last }) {
    const own = display ? `${display} (${name})` : name;
    const tags = ended ? [tag(ended)] : [online ? tag("online", "good") : tag("offline"), paused && tag("paused", "warn"), stuck && tag("stuck", "bad"), !last && tag("never played", "warn")].filter(Boolean);
    const folds = ended ? [] : [
      asking("Disqualify", name, "Reason, which is public", (reason) => decide(`${name} is disqualified.`, { act: "disqualify", bot: name, reason })),
      asking("Remove", name, `Its token is invalid and it plays no longer. Write ${name} to be sure`, ifNamed(name, () => decide(`${name} is removed.`, { act: "revoke", bot: name }))),
    ];
    return line([element("b", {}, own), ` of ${owner} `, ...tags.flatMap((one) => [one, " "])], ended ? [] : [pauseButton(paused, name, { bot: name })],
      small(`${connects ? "connects" : "is started by the server"}, ${last ? `last match ${minute(last)}` : "no match yet"}`), ...folds);
  }

  function owner({ id, display_name: display, affiliation, contact, state, bots, handed_in: handedIn }) {
    const acts = {
      waiting: [button("Approve", id, () => decide(`${id} takes part.`, { act: "approve_owner", owner: id }))],
      active: [button("Ban", id, () => decide(`${id} and its bots are kept away.`, { act: "ban_owner", owner: id }), true)],
      banned: [button("Unban", id, () => decide(`${id} is admitted again.`, { act: "unban_owner", owner: id }))],
    }[state] ?? [];
    const tags = [state === "active" ? "" : tag(state, state === "left" ? "" : "warn"), " ", state === "active" && !handedIn ? tag("not handed in", "warn") : ""];
    return line([element("b", {}, display ? `${display} (${id}) ` : `${id} `), ...tags], acts,
      small([affiliation, contact, counted(bots, "bot")].filter(Boolean).join(", ")),
      ...state === "left" ? [] : [asking("Remove", id, `What it said of itself is erased, and its bots retire. Write ${id} to be sure`, ifNamed(id, () => decide(`${id} is removed.`, { act: "remove_owner", owner: id })))]);
  }

  function show(facts) {
    shown = facts;
    const { league, organiser, paused, announces, events, ladders, bots, notices, owners, submissions, faults, disk, log } = facts;
    $("brand").textContent = league;
    $("title").replaceChildren(`Organise ${league} `, pauseButton(paused, "the league", {}));
    const playing = bots.filter(({ ended }) => !ended), count = (is) => playing.filter(is).length;
    const gib = (bytes) => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
    $("state").textContent = [`${organiser}:`, paused ? "the league is paused," : "", `${count(({ online }) => online)} of ${playing.length} bots online,`, `${count(({ stuck }) => stuck)} stuck,`,
      `${count(({ last_match: last }) => !last)} never played,`, `${counted(owners.filter(({ state, handed_in: has }) => state === "active" && !has).length, "owner")} without a bot,`,
      disk ? `${gib(disk.free)} of ${gib(disk.size)} free.` : "the disk is unknown."].filter(Boolean).join(" ");
    $("outside").hidden = true;
    $("inside").hidden = false;
    $("notices-part").hidden = !notices.length;
    list("notices", notices, ({ text }) => element("li", {}, text));
    list("queues", ladders, ladder, "None.");
    list("submissions", submissions, submission, "None.");
    list("faults", faults, ({ ladder: on, id, player, fault, ended_at: at }) => line([element("b", {}, player), ` ${fault.replaceAll("_", " ")} in `, toMatch(on, id), ` on ${on}`], [], small(minute(at))), "None.");
    // What needs a look comes first; of a class of two hundred, most bots just play.
    const needsLook = ({ ended, online, paused, stuck, last_match: last }) => !ended && (!online || paused || stuck || !last);
    const calm = bots.filter((one) => !needsLook(one)).toSorted((one, other) => Boolean(one.ended) - Boolean(other.ended));
    list("bots", bots.filter(needsLook), bot, "All are online and play.");
    $("others").hidden = !calm.length;
    $("others-told").textContent = `${counted(calm.length, "bot")} without a problem, or that take part no longer`;
    list("calm", calm, bot);
    list("owners", owners, owner, "None.");
    list("workers", ladders.flatMap(({ name, workers }) => workers.map((worker) => ({ on: name, ...worker }))),
      ({ on, name, state, connected, reason, matches, faults: made, lost }) => line([element("b", {}, name), ` on ${on} `, tag(connected ? state : "not connected", connected && state === "active" ? "good" : "warn")], [],
        small([counted(matches, "match", "matches"), `${made} with faults`, `${lost} lost`, reason].filter(Boolean).join(", "))), "None.");
    list("log", log, ({ at, user, action }) => line([element("b", {}, user), ` ${action}`], [], small(minute(at))), "None.");
    list("rule-ladder", ladders.map(({ name }) => name), (value) => element("option", { value }, value));
    $("announce-part").hidden = !announces;
    if (isNew("events", events)) announceEvents($("events"), events, () => look().catch(() => {}));
  }

  look = async () => {
    try {
      show(await ask("GET", "organiser"));
    } catch (error) {
      if (error.status !== 401) throw error;
      shown = null;
      $("inside").hidden = true;
      $("outside").hidden = false;
      $("state").textContent = "What goes on in the league, and what you decide.";
    }
  };

  onSubmit("sign-in-form", async () => {
    if (await act("", "POST", "organiser/session", { token: $("token").value }) !== null) $("token").value = "";
  });
  onSubmit("rule-form", async () => {
    const value = (id) => $(`rule-${id}`).value, decision = value("act");
    const winner = decision === "award" ? { winner: value("winner") || null } : {};
    if (await decide("It is ruled.", { act: decision, ladder: value("ladder"), match: value("match"), reason: value("reason"), ...winner })) $("rule-form").reset();
  });
  onSubmit("announce-form", async () => {
    if (await decide("It is announced.", { act: "announce", title: $("announce-heading").value, text: $("announce-text").value })) $("announce-form").reset();
  });
  $("sign-out").addEventListener("click", () => act("You have signed out.", "DELETE", "organiser/session"));

  follow();
}
