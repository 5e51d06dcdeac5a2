// The page of an owner of bots: signing up and in, bots, matches with their logs, challenges, the token.
"use strict";
{
  /** The secret of an invitation, which never leaves the browser but to sign up. */
  const invitation = location.hash.slice(1);
  /** What was last shown. */
  let shown = null;

  /** The token that was made last, which only this page knows. */
  let fresh = null;

  function showToken(token) {
    if (!token) return;
    fresh = token;
    $("copy-token").textContent = "Copy";
    if (shown) showSample(shown);
    $("new-token").hidden = false;
    $("new-token-text").textContent = token;
  }

  /** A ladder of the owner's answer. */
  const ladderOf = (name) => shown.ladders.find((ladder) => ladder.name === name);

  function pageLink(ladder, path, text) {
    const pages = pagesOf(ladderOf(ladder) ?? {});
    return pages ? element("a", { href: `${pages}${path}` }, text) : element("span", {}, text);
  }

  /** A fold that ends the participation of a bot, whose name has to be written. */
  function retirement(name, own, path) {
    const input = element("input", { required: "", maxlength: 64, "aria-label": `Name of ${own}, to be sure` });
    const form = element("form", { class: "fields pager" }, element("div", { class: "grow" }, input), element("button", { class: "danger", type: "submit" }, "Retire"));
    const made = element("details", {}, element("summary", { class: "small" }, "Retire", element("span", { class: "hide" }, ` ${own}`)),
      element("p", { class: "note" }, `It plays no longer, and nobody can use its name again. Write ${name} to be sure.`), form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      made.open = false;
      await act(`${own} does not take part any more.`, "POST", `${path}/retire`, { name: input.value });
    });
    return made;
  }

  function bot({ name, display_name: display, connects, paused, retired_at: retired, ended, players }) {
    const path = `owner/bots/${encodeURIComponent(name)}`, own = display ?? name;
    const facts = players.map(({ ladder, name: player, place, rating, provisional, online, state, matches, faulted }) => {
      const [said] = presence({ state, matches, faulted, online });
      const cells = [[pageLink(ladder, `players/${encodeURIComponent(player)}`, player), ` on ${ladder}`, ...said === "online" ? [onlineDot()] : []],
        matches ? [place ? ordinal(place) : "–"] : [],
        matches ? [...elo(rating), ...provisional ? [element("span", { class: "muted", title: "still uncertain" }, " ?")] : []] : [],
        [matches ? `${matches} ${matches === 1 ? "match" : "matches"}${faulted ? `, ${faulted} with faults` : ""}` : "", matches && said && said !== "online" ? ", " : "", said === "online" ? "" : said]];
      return element("li", {}, ...cells.map((cell, n) => element("span", n ? { class: "num" } : {}, ...cell)));
    });
    const tag = retired ? element("span", { class: "tag" }, ended ?? "retired") : paused ? element("span", { class: "tag warn" }, "paused") : "";
    const buttons = retired ? [] : [
      paused ? button("Resume", own, () => act(`${own} plays again.`, "POST", `${path}/resume`)) : button("Pause", own, () => act(`${own} begins no match until you resume it.`, "POST", `${path}/pause`)),
    ];
    const how = connects ? "connects" : "is started by the server";
    return element("li", {}, element("div", { class: "row acts" },
      element("span", { class: "grow" }, element("b", {}, own), ` ${display ? `(${name}) ` : ""}`, element("span", { class: "muted" }, `${how} `), tag), ...buttons), ...facts.length ? [element("ul", { class: "small by" }, ...facts)] : [], ...retired ? [] : [retirement(name, own, path)]);
  }

  /** The states of a submission on its way. */
  const STEPS = [["received", "received"], ["building", "built"], ["checking", "checked"], ["waiting", "approved"], ["playing", "playing"]];

  /** A fold with the text that `read` gets when it is opened. */
  function fold(summary, of, read) {
    const made = element("details", {}, element("summary", { class: "small" }, summary, element("span", { class: "hide" }, ` of ${of}`)));
    made.addEventListener("toggle", async () => {
      if (!made.open || made.querySelector("pre")) return;
      let text;
      try {
        text = await read();
      } catch (error) {
        text = error.message;
      }
      made.append(element("pre", { class: "log", tabindex: 0, role: "group", "aria-label": `${summary} of ${of}` }, text));
    });
    return made;
  }

  function submission({ id, bot, version, state, approved, received_at: at, ladders, kept, kept_data: data }) {
    const name = bot ? `${bot}@${version}` : `submission ${id}`;
    const words = { received: "in the queue", building: "is being built", checking: "is being checked", waiting: approved ? "has passed" : "waits for the approval of the organiser", playing: `plays on ${ladders.join(", ")}`, retired: "retired", failed: "failed" };
    const tag = element("span", { class: `tag ${{ playing: "good", failed: "bad", retired: "", waiting: "warn" }[state] ?? "info"}` }, state);
    const path = `owner/submissions/${id}`, acts = [];
    if (["received", "building", "checking", "waiting"].includes(state)) acts.push(button("Withdraw", name, () => act(`${name} is withdrawn.`, "DELETE", path), true));
    if (kept) acts.push(element("a", { class: "btn", href: `api/v1/${path}/archive`, download: "" }, "Download", element("span", { class: "hide" }, ` ${name}`)));
    if (kept && state === "retired") acts.push(button("Hand in again", name, () => act("It is built and checked, and then plays as a new version.", "POST", `${path}/again`)));
    const passed = STEPS.findIndex(([step]) => step === state);
    const steps = passed > 0 ? STEPS.slice(0, passed).filter(([step]) => step !== "waiting" || approved).map(([, done]) => `✓ ${done}`).join(" › ") : "";
    return element("li", {}, element("div", { class: "row" }, element("span", { class: "grow" }, element("b", {}, name), " ", tag), element("span", { class: "small muted" }, minute(at))),
      ...acts.length ? [element("div", { class: "row acts" }, ...acts)] : [],
      element("p", { class: "small" }, ...steps ? [element("span", { class: "done" }, steps), " › "] : [], words[state] === state ? "" : words[state]),
      ...data.map(({ ladder, bytes, refused }) => element("p", { class: "small muted" }, `keeps ${(bytes / 1024).toFixed(0)} KiB on ${ladder}${refused ? `; what it left last was not kept: ${refused}` : ""}`)),
      fold("Log", name, async () => (await ask("GET", `owner/submissions/${id}`)).log || "There is nothing in it yet."));
  }

  /** What is known of the process or the connection of a bot. */
  function ofBot({ stderr, cpu_ms: time, outages = [] }) {
    const seconds = (us) => `${(us / 1e6).toFixed(1)} s`;
    const lost = outages.map(({ lost_us: from, back_us: to }) => `the connection was lost ${seconds(from)} after the start of the match, and ${to === null ? "no other one replaced it" : `replaced ${seconds(to - from)} later`}`);
    // Standard error is that of a process that the server started.
    const said = stderr ? [`standard error:\n${stderr}`] : time === null ? [] : ["nothing on standard error"];
    return [...lost, ...said];
  }

  /** What the private lines of a match say: rejected lines, lost connections, and standard error. */
  function privateText(lines) {
    const said = [];
    for (const line of lines.split("\n").filter(Boolean).map((line) => JSON.parse(line))) {
      if (line.type === "private") said.push(line.bot?.command ? `started: ${[].concat(line.bot.command).join(" ")}` : "connected");
      else if (line.bots) for (const bot of line.bots) said.push(...ofBot(bot));
      else said.push(JSON.stringify(line));
    }
    return said.join("\n");
  }

  /** How a match ended for the bots of the owner. */
  function resultOf({ own_seats: own, ranks }) {
    if (!ranks) return "no result";
    const best = Math.min(...ranks);
    return own.some((seat) => ranks[seat] > best) ? "lost" : ranks.every((rank) => rank === best) ? "drawn" : "won";
  }

  const logOf = ({ ladder, id }) => fold("Log", id, async () => privateText(await ask("GET", `owner/matches/${encodeURIComponent(ladder)}/${id}/log`)));
  const namesOn = (ladder) => ladderOf(ladder)?.display_names ?? {};
  const inWords = (faults) => faults.map(({ words, count }) => (count > 1 ? `${words} (${count})` : words));

  /** A match with faults: what they were, what they cost, and two lines for the log. */
  function faulted(played) {
    const { ladder, id, players, own_seats: own, faults, ended_by: endedBy, ended_at: at } = played;
    const names = namesOn(ladder), cell = (attributes, ...children) => element("td", attributes, ...children);
    const of = (isOwn) => players.filter((_, seat) => own.includes(seat) === isOwn).map((name) => names[name] ?? name).join(", ");
    const rows = document.createDocumentFragment();
    rows.append(element("tr", {},
      cell({ class: "name" }, inWords(faults).join(", "), element("small", {}, of(true))),
      cell({ class: "lead num" }, endedBy === "fault" && resultOf(played) === "lost" ? "1 match" : "nothing"),
      cell({ class: "t", "data-l": "Opponent" }, of(false)),
      cell({ class: "num", "data-l": "When" }, minute(at)),
      cell({ class: "num", "data-l": "Replay" }, pageLink(ladder, `matches/${id}`, `${id} on ${ladder}`))),
    element("tr", { class: "under" }, cell({ colspan: 5 }, logOf(played))));
    return rows;
  }

  function match(played) {
    const { ladder, id, players, faults, ending, rated, ended_at: at } = played;
    const result = resultOf(played), names = namesOn(ladder), told = inWords(faults);
    // A fault that ended the match is among them.
    if (!faults.some(({ words }) => words === ending)) told.unshift(ending);
    const letter = { won: "W", drawn: "D", lost: "L" }[result] ?? "";
    return element("li", {}, element("div", { class: "row" }, form(letter),
      element("span", { class: "grow" }, pageLink(ladder, `matches/${id}`, players.map((name) => names[name] ?? name).join(" – ")), element("span", { class: "muted" }, `: ${[...letter ? [] : [result], ...told, ...rated ? [] : ["not rated"]].join("; ")}`)),
      element("span", { class: "small muted" }, `${ladder}, ${minute(at)}`)), logOf(played));
  }

  /** The options of a list to choose from, without losing what was chosen. */
  function options(id, values, names) {
    const before = $(id).value;
    list(id, values, (value) => element("option", { value }, names[value] ?? value));
    if (values.includes(before)) $(id).value = before;
  }

  function showChallenge() {
    const { ladders, bots, limits } = shown;
    options("ladder", ladders.map(({ name }) => name), {});
    const ladder = ladderOf($("ladder").value) ?? ladders[0];
    const names = bots.filter(({ retired_at: retired }) => !retired).map(({ name }) => name);
    const isOwn = (player) => names.includes(player.split("@")[0]);
    const newest = bots.filter(({ retired_at: retired }) => !retired)
      .flatMap(({ players }) => players).filter(({ ladder: of }) => of === ladder.name).map(({ name }) => name);
    const own = [...new Set([...ladder.players.filter(isOwn), ...newest])];
    options("own", own, ladder.display_names);
    options("others", ladder.players.filter((player) => !isOwn(player)), ladder.display_names);
    // A match of more than two has more opponents.
    $("others").multiple = ladder.seats > 2;
    $("challenge").hidden = !limits.challenges_per_day || !names.length;
    $("challenge-told").textContent = "A match on demand, as soon as all are free.";
    list("waiting", ladders.flatMap(({ name, challenges }) => challenges.map((challenge) => ({ ...challenge, on: name }))),
      ({ id, players, own: isOwn, on }) => {
        const names = players.join(" – ");
        const back = isOwn ? [button("Take back", names, () => act("It is taken back.", "DELETE", `owner/challenges/${id}`))] : [];
        return element("li", { class: "row acts" }, element("span", { class: "grow" }, `Waiting on ${on}: ${names}`), ...back);
      });
  }

  /** A bot with the name and the token, while this is known. */
  function showSample({ state, bots, ladders }) {
    const bot = bots.find(({ connects, retired_at: retired }) => connects && !retired), ladder = ladders.find(({ port }) => port);
    $("sample").hidden = !(fresh && bot && ladder && state === "active");
    if ($("sample").hidden) return;
    const text = sampleBot(ladder.port, ladder.tls, bot.name, fresh);
    if ($("sample-text").textContent !== text) $("sample-text").textContent = text;
  }

  /** What the owner reads first: the best place of its bots. */
  function best(bots) {
    const placed = bots.flatMap(({ players }) => players).filter(({ place, matches }) => place && matches);
    const first = placed.toSorted((one, other) => one.place - other.place)[0];
    if (!first) return "";
    return first.place === 1 ? `${shownName(first)} leads on ${first.ladder}.` : `${shownName(first)} is ${ordinal(first.place)} on ${first.ladder}.`;
  }

  /** Says why the newest submission has failed, until a later one is handed in. */
  async function showFailure(submissions) {
    const newest = submissions.toSorted((one, other) => other.id - one.id)[0], hasFailed = newest?.state === "failed";
    if (hasFailed && $("failed").dataset.id !== String(newest.id)) {
      const { log } = await ask("GET", `owner/submissions/${newest.id}`);
      $("failed").dataset.id = newest.id;
      $("failed-title").textContent = `${newest.bot ? `${newest.bot}@${newest.version}` : `Submission ${newest.id}`} has failed`;
      $("failed-at").textContent = minute(newest.received_at);
      $("failed-log").textContent = log.trimEnd().split("\n").slice(-12).join("\n");
    }
    $("failed").hidden = !hasFailed;
  }

  function showOwner(owner) {
    shown = owner;
    showSample(owner);
    const { id, display_name: display, state, token, bots, notices, ladders, league, limits } = owner;
    $("brand").textContent = league;
    $("title").textContent = "Your bots";
    const playing = bots.filter(({ retired_at: retired }) => !retired);
    const whose = display ? `${display} (${id})` : id;
    $("state").textContent = state === "waiting" ? `${whose}: the organiser has not approved you yet.`
      : !playing.length ? `${whose}: add a bot, and let it connect.` : `${whose}. ${best(playing)}`;
    const left = Math.max(0, limits.challenges_per_day - limits.challenges_today);
    $("today").replaceChildren(...[["Bots", playing.length, `of at most ${limits.bots}`], ...limits.challenges_per_day ? [["Challenges", left, `of ${limits.challenges_per_day} left`]] : []]
      .map(([key, value, small]) => element("div", {}, element("dt", {}, key), element("dd", {}, String(value), element("small", {}, small)))));
    $("outside").hidden = true;
    $("inside").hidden = false;
    $("notices-part").hidden = !notices.length;
    list("notices", notices, ({ text }) => element("li", {}, text));
    list("bots", bots, bot);
    const open = ladders.filter(({ port }) => port);
    $("connect").textContent = open.length
      ? `A bot connects with its name and your token in hello: ${open.map(({ name, port, tls }) => `${name} at ${location.hostname}:${port}${tls ? " with TLS" : ""}`).join(", ")}.` : "";
    $("bot-form").hidden = state !== "active" || !open.length;
    showChallenge();
    $("token-form").hidden = !token;
    $("token-told").textContent = token
      ? `Made on ${minute(token.made_at)}, fingerprint ${token.fingerprint}. ${token.former_until ? `Bots may connect with the one before it until ${minute(token.former_until)}.` : "After you make a new one, bots may connect with this one for another hour."}`
      : "Your proxy signs you in.";
    for (const [field, value] of [["display", display], ["affiliation", owner.affiliation], ["contact", owner.contact]]) {
      const input = $(`own-${field}`);
      // A field is not overwritten while it has the focus.
      if (document.activeElement !== input && input.dataset.value !== (value ?? "")) input.value = input.dataset.value = value ?? "";
    }
  }

  async function showOutside(why) {
    shown = null;
    const { league, mode, needs_approval: approval, user } = await ask("GET", "signup");
    $("brand").textContent = league;
    $("title").textContent = league;
    $("inside").hidden = $("failed").hidden = true;
    $("outside").hidden = false;
    const mayJoin = mode === "open" || (mode === "invite" && invitation);
    $("sign-up").hidden = !mayJoin;
    $("state").textContent = mayJoin ? "Sign up to let your bots play, or sign in."
      : mode === "invite" ? "Sign in. Who wants to take part needs an invitation of the organiser." : "Sign in. The organiser gives tokens to those who take part.";
    $("sign-up-told").textContent = approval && !invitation ? "The organiser approves you before you take part." : "You get a token, which is shown once.";
    if (user) $("id").value = user;
    $("id").readOnly = Boolean(user);
    if (why) tell(why, true);
  }

  look = async () => {
    try {
      showOwner(await ask("GET", "owner"));
      const [{ matches: withFaults }, { matches }] = await Promise.all([ask("GET", "owner/matches?faulted=true&limit=10"), ask("GET", "owner/matches?limit=10")]);
      $("submissions-part").hidden = !shown.submissions || shown.state !== "active";
      if ($("submissions-part").hidden) $("failed").hidden = true;
      else {
        const { submissions } = await ask("GET", "owner/submissions");
        await showFailure(submissions);
        list("submissions", submissions.slice().sort((a, b) => b.id - a.id).slice(0, 20), submission);
      }
      list("faults", withFaults, faulted);
      $("faults-table").hidden = !withFaults.length;
      $("no-faults").hidden = withFaults.length > 0;
      list("matches", matches, match, "None yet.");
    } catch (error) {
      if (error.status !== 401) throw error;
      await showOutside();
    }
  };

  onSubmit("sign-in-form", async () => {
    if (await act("", "POST", "session", { token: $("token").value }) !== null) $("token").value = "";
  });
  onSubmit("sign-up-form", async () => {
    const value = (id) => $(id).value || null;
    const body = { id: $("id").value, display_name: value("display"), affiliation: value("affiliation"), contact: value("contact"), ...invitation ? { invitation } : {} };
    const signed = await act("", "POST", "signup", body);
    if (!signed) return;
    history.replaceState(null, "", location.pathname);
    showToken(signed.token);
  });
  onSubmit("bot-form", async () => {
    const name = $("bot").value;
    if (await act(`${name} may connect.`, "POST", "owner/bots", { name })) $("bot").value = "";
  });
  onSubmit("submit-form", async () => {
    if (await act("It has arrived, and is built and checked now.", "POST", "owner/submissions", $("archive").files[0])) $("archive").value = "";
  });
  onSubmit("challenge-form", () => {
    const others = [...$("others").selectedOptions].map(({ value }) => value);
    act("It is played as soon as all are free.", "POST", "owner/challenges", { ladder: $("ladder").value, bots: [$("own").value, ...others] });
  });
  onSubmit("token-form", async () => showToken((await act("Bots may connect with the token before it for another hour.", "POST", "owner/token"))?.token));
  onSubmit("profile-form", () => act("Saved.", "PATCH", "owner", {
    display_name: $("own-display").value, affiliation: $("own-affiliation").value, contact: $("own-contact").value,
  }));
  onSubmit("leave-form", () => act("You have left. Your results stay.", "POST", "owner/leave", { id: $("leave-id").value }));
  $("sign-out").addEventListener("click", () => {
    $("new-token").hidden = true;
    fresh = null;
    act("You have signed out.", "DELETE", "session");
  });
  $("ladder").addEventListener("change", showChallenge);
  copies("copy-token", "new-token-text");
  copies("copy-sample", "sample-text");

  /** Counts down to deadlines. */
  async function showDeadlines() {
    const { events } = await ask("GET", "signup");
    announceEvents($("events"), events, () => showDeadlines().catch(() => {}));
  }
  // Without it, the page lacks a countdown.
  showDeadlines().catch(() => {});

  follow();
}
