//! Owners of bots and their invitations.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand};
use sha2::{Digest, Sha256};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{InvitationLine, LeagueOwnerLine};
use crate::cli::league::log;
use crate::cli::league::which::LeagueSelector;
use crate::cli::options::random_seed;
use crate::cli::screen;
use crate::cli::user::user;
use crate::files::read_regular;
use crate::game::json;
use crate::game::name::{check_display_name, check_name, derived_id, skeleton};
use crate::league::{Invitation, League, LeagueBot, LeagueOwner, OrganiserAct, OwnerState, OwnerToken};
use crate::report::{csv_line, table};
use crate::store::{now, utc};
use crate::web::SignUpMode;

/// The columns of a class list.
const COLUMNS: [&str; 4] = ["id", "name", "affiliation", "contact"];
/// The longest time for which an invitation works: ten years.
const LONGEST: Duration = Duration::from_secs(3650 * 24 * 60 * 60);

/// Print a link with which owners of bots sign up
///
/// The link works once, or `--uses` times, until it expires. With `--owner` it is for this id, also if bots of the league have
/// this owner already: whoever signs up with it acts for them.
///
/// With `--from` there is a link for each line of a CSV file with the columns `name`, `affiliation`, `contact` and, optionally,
/// `id`: the owner signs up under the id, by default made from the name, and has what the file says unless it says something
/// else. The links are printed as CSV.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league invite
  referee league invite --uses 30 --expires 14d
  referee league invite --owner alice --json
  referee league invite --from class.csv --expires 30d > links.csv")]
pub(super) struct InviteArgs {
    /// The id of the owner [default: one that the owner chooses]
    #[arg(long, value_name = "ID")]
    owner: Option<String>,
    /// How many owners may sign up with it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "owner")]
    uses: u32,
    /// A CSV file with owners, each of whom gets a link
    #[arg(long, value_name = "FILE", conflicts_with_all = ["owner", "uses", "json"])]
    from: Option<PathBuf>,
    /// How long it works
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = humantime::parse_duration)]
    expires: Duration,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn invite(args: &InviteArgs) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let options = config.owners()?.ok_or_else(no_owners)?;
    if options.sign_up.mode == SignUpMode::Closed {
        return Err(Failure::usage(
            "[signup] mode: nobody signs up while it is \"closed\"; set it to \"invite\" and restart the server",
        ));
    }
    if args.expires > LONGEST {
        return Err(Failure::usage("--expires: at most 3650d"));
    }
    if let Some(id) = &args.owner {
        check_name(id).map_err(|what| Failure::usage(format!("--owner: {what}")))?;
    }
    let base = match (&options.url, options.address.port()) {
        (Some(url), _) => url.clone(),
        (None, 0) => {
            return Err(Failure::usage("[owners] url: without it the link needs a fixed port in `listen`"));
        }
        (None, _) => format!("http://{}/", options.address),
    };
    let class = match &args.from {
        Some(path) => read_class(path)?,
        None => vec![Invited { id: args.owner.clone(), ..Invited::default() }],
    };
    let (mut invitations, mut links) = (Vec::new(), Vec::new());
    for Invited { id, name, affiliation, contact } in class {
        let secret = random_seed()?.to_hex();
        invitations.push(Invitation {
            id: 0,
            secret: Sha256::digest(&secret).into(),
            owner: id,
            display_name: name,
            affiliation,
            contact,
            uses: args.uses,
            used: 0,
            expires_at: utc(now() + args.expires),
            made_at: utc(now()),
            made_by: user(),
        });
        // The fragment after `#` stays in the browser: no proxy logs it.
        links.push(format!("{base}#{secret}"));
    }
    log::act(&mut league, OrganiserAct::Invite(&invitations))?;
    let mut out = screen::stdout();
    if args.from.is_some() {
        out.write_all(
            csv_line(["name", "affiliation", "contact", "id", "link", "expires"].map(str::to_owned))
                .as_bytes(),
        )?;
    }
    for (invitation, url) in invitations.iter().zip(links) {
        let Invitation { owner, display_name, affiliation, contact, expires_at, .. } = invitation;
        if args.from.is_some() {
            let told =
                [display_name, affiliation, contact, owner].map(|text| text.clone().unwrap_or_default());
            out.write_all(csv_line(told.into_iter().chain([url, expires_at.clone()])).as_bytes())?;
        } else if args.json {
            writeln!(out, "{}", json::text(&InvitationLine { id: None, url: Some(&url), invitation }))?;
        } else {
            writeln!(out, "this link is shown once, and works until {expires_at}:\n{url}")?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

#[derive(Default)]
struct Invited {
    id: Option<String>,
    name: Option<String>,
    affiliation: Option<String>,
    contact: Option<String>,
}

/// The cells of a line of CSV, without space around them.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for c in line.chars() {
        let last = cells.len() - 1;
        match c {
            // A doubled quote within quotes ends them and begins them again.
            '"' => {
                if !is_quoted && !cells[last].trim().is_empty() {
                    cells[last].push('"');
                }
                is_quoted = !is_quoted;
            }
            ',' if !is_quoted => cells.push(String::new()),
            c => cells[last].push(c),
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The owners of a CSV file, each with an id of its own.
fn read_class(path: &Path) -> Result<Vec<Invited>, Failure> {
    let wrong = |what: String| Failure::usage(format!("--from {}: {what}", path.display()));
    let bytes = read_regular(path).map_err(|why| wrong(why.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("not UTF-8".to_owned()))?;
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let columns = cells(lines.next().unwrap_or_default());
    if let Some(other) = columns.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
        return Err(wrong(format!("unknown column `{other}`; expected {}", COLUMNS.join(", "))));
    }
    let (mut class, mut taken, mut remarks) = (Vec::new(), BTreeMap::new(), Vec::new());
    for (line, text) in (2_u32..).zip(lines).filter(|(_, text)| !text.trim().is_empty()) {
        let wrong = |what: String| wrong(format!("line {line}: {what}"));
        let row = cells(text);
        let cell = |name: &str| {
            let at = columns.iter().position(|column| column == name)?;
            row.get(at).filter(|cell| !cell.is_empty()).cloned()
        };
        let name = cell("name").ok_or_else(|| wrong("it has no name".to_owned()))?;
        check_display_name(&name).map_err(|what| wrong(format!("`{name}`: {what}")))?;
        let (id, lost) = cell("id").map_or_else(|| derived_id(&name), |id| (id, String::new()));
        check_name(&id).map_err(|what| wrong(format!("`{id}`: {what}; a column `id` names the owner")))?;
        if !lost.is_empty() {
            remarks.push(format!(
                "line {line}: the id of `{name}` is `{id}`, without `{lost}`; a column `id` names another"
            ));
        }
        if let Some(other) = taken.insert(skeleton(&id), line) {
            return Err(wrong(format!(
                "`{id}` looks like the id of line {other}; a column `id` tells them apart"
            )));
        }
        let (affiliation, contact) = (cell("affiliation"), cell("contact"));
        class.push(Invited { id: Some(id), name: Some(name), affiliation, contact });
    }
    match class.is_empty() {
        true => Err(wrong("there is no owner in it".to_owned())),
        false => {
            remarks.iter().for_each(screen::stderr_line);
            Ok(class)
        }
    }
}

fn no_owners() -> Failure {
    Failure::usage("the league has no pages for owners: add [owners] with `listen` to its file")
}

/// List the invitations, or take one back
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league invitations
  referee league invitations --revoke 3")]
pub(super) struct InvitationsArgs {
    /// Take back the invitation with this number
    #[arg(long, value_name = "N")]
    revoke: Option<u32>,
    /// One JSON object per line and invitation
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn invitations(args: &InvitationsArgs) -> Result<Exit, Failure> {
    let (_, mut league) = args.which.open()?;
    let mut out = screen::stdout();
    if let Some(id) = args.revoke {
        log::act(&mut league, OrganiserAct::RevokeInvitation(id))?;
    }
    let invitations = league.invitations().map_err(Failure::cannot_run)?;
    if args.json {
        for invitation in &invitations {
            let line = InvitationLine { id: Some(invitation.id), url: None, invitation };
            writeln!(out, "{}", json::text(&line))?;
        }
    } else {
        let now = utc(now());
        let rows = invitations.into_iter().map(|invitation| {
            let state = invitation.closed(&now).unwrap_or("open");
            let Invitation { id, owner, uses, used, expires_at, made_by, .. } = invitation;
            let owner = owner.unwrap_or_else(|| "any".to_owned());
            vec![id.to_string(), owner, format!("{used} of {uses}"), state.to_owned(), expires_at, made_by]
        });
        let columns = ["number", "owner", "used", "state", "expires (UTC)", "made by"];
        writeln!(out, "{}", table(&columns, rows.collect(), 0..0))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// List the owners who have signed up, or were added
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league owners
  referee league owners --json")]
pub(super) struct OwnersArgs {
    /// One JSON object per line and owner
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn list(args: &OwnersArgs) -> Result<Exit, Failure> {
    let (_, league) = args.which.open()?;
    let owners = league.owners().map_err(Failure::cannot_run)?;
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    if args.json {
        for owner in &owners {
            writeln!(out, "{}", json::text(&owner_line(owner, &bots, None)))?;
        }
    } else {
        let rows = owners.iter().map(|owner| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let bots = owner_line(owner, &bots, None).bots.join(", ");
            let (name, affiliation) = (text(&owner.display_name), text(&owner.affiliation));
            vec![owner.id.clone(), name, affiliation, owner.state.to_string(), bots, text(&owner.contact)]
        });
        let columns = ["owner", "name", "affiliation", "state", "bots", "contact"];
        writeln!(out, "{}", table(&columns, rows.collect(), 0..0))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn owner_line<'a>(
    owner: &'a LeagueOwner,
    bots: &'a [LeagueBot],
    token: Option<&'a str>,
) -> LeagueOwnerLine<'a> {
    let own = bots.iter().filter(|bot| bot.owner == owner.id && bot.revoked_at.is_none());
    let tokens = owner.token.iter().flat_map(|token| token.named.iter().map(|named| &*named.name)).collect();
    LeagueOwnerLine { owner, bots: own.map(|bot| &*bot.name).collect(), tokens, token }
}

/// Add, approve, ban or remove an owner, or make a new token
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league owner add alice --display-name 'Alice Liddell'
  referee league owner approve bob
  referee league owner token alice --at-once
  referee league owner token alice --name laptop
  referee league owner ban bob
  referee league owner remove bob")]
pub(super) struct OwnerArgs {
    #[command(subcommand)]
    command: OwnerCommand,
}

#[derive(Debug, Subcommand)]
enum OwnerCommand {
    /// Add an owner, and print the token
    #[command(after_help = "Examples:
  referee league owner add alice --display-name 'Alice Liddell' --contact alice@cup.example")]
    Add(AddOwnerArgs),
    /// Let an owner take part who has signed up
    #[command(after_help = "Examples:
  referee league owner approve bob")]
    Approve(OneOwnerArgs),
    /// Remove an owner: its bots play no longer, what it said of itself is erased, its results stay
    #[command(after_help = "Examples:
  referee league owner remove bob")]
    Remove(OneOwnerArgs),
    /// Keep an owner away: it cannot sign in, and its bots stop. `unban` undoes it
    #[command(after_help = "Examples:
  referee league owner ban bob")]
    Ban(OneOwnerArgs),
    /// Admit an owner who was banned, with its bots
    #[command(after_help = "Examples:
  referee league owner unban bob")]
    Unban(OneOwnerArgs),
    /// Make a new token, and print it. Bots may connect with the one before it for another hour
    #[command(after_help = "Examples:
  referee league owner token alice
  referee league owner token alice --at-once
  referee league owner token team --name bob
  referee league owner token team --revoke bob")]
    Token(TokenArgs),
}

#[derive(Debug, ClapArgs)]
struct AddOwnerArgs {
    /// The id: as in `referee league add --owner`
    id: String,
    /// What people see instead of the id
    #[arg(long, value_name = "NAME")]
    display_name: Option<String>,
    /// A school or a company, for display
    #[arg(long, value_name = "TEXT")]
    affiliation: Option<String>,
    /// How to reach the owner; nobody else sees it
    #[arg(long, value_name = "TEXT")]
    contact: Option<String>,
    #[command(flatten)]
    of: OwnerOptions,
}

#[derive(Debug, ClapArgs)]
struct OneOwnerArgs {
    /// The id of the owner
    id: String,
    #[command(flatten)]
    of: OwnerOptions,
}

#[derive(Debug, ClapArgs)]
struct TokenArgs {
    /// The id of the owner
    id: String,
    /// The token before it is invalid from now on
    #[arg(long, conflicts_with_all = ["name", "revoke"])]
    at_once: bool,
    /// Make a further token with this name, such as that of a member of a team; the others stay. It replaces one with the same name
    #[arg(long, conflicts_with = "revoke")]
    name: Option<String>,
    /// Take back the further token with this name
    #[arg(long, value_name = "NAME")]
    revoke: Option<String>,
    #[command(flatten)]
    of: OwnerOptions,
}

#[derive(Debug, ClapArgs)]
struct OwnerOptions {
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn owner(args: OwnerArgs) -> Result<Exit, Failure> {
    match args.command {
        OwnerCommand::Add(args) => add(args),
        OwnerCommand::Approve(args) => change(&args, OrganiserAct::ApproveOwner { owner: &args.id }),
        OwnerCommand::Remove(args) => change(&args, OrganiserAct::RemoveOwner { owner: &args.id }),
        OwnerCommand::Ban(args) => change(&args, OrganiserAct::BanOwner { owner: &args.id, is_banned: true }),
        OwnerCommand::Unban(args) => {
            change(&args, OrganiserAct::BanOwner { owner: &args.id, is_banned: false })
        }
        OwnerCommand::Token(args) => token(&args),
    }
}

pub(super) fn new_token() -> Result<(String, [u8; 32]), Failure> {
    let token = random_seed()?.to_hex();
    let hash = Sha256::digest(&token).into();
    Ok((token, hash))
}

fn add(args: AddOwnerArgs) -> Result<Exit, Failure> {
    let AddOwnerArgs { id, display_name, affiliation, contact, of } = args;
    check_name(&id).map_err(|what| Failure::usage(format!("`{id}`: {what}")))?;
    if let Some(name) = &display_name {
        check_display_name(name).map_err(|what| Failure::usage(format!("--display-name: {what}")))?;
    }
    let (_, mut league) = of.which.open()?;
    let (token, hash) = new_token()?;
    let owner = LeagueOwner {
        id,
        display_name,
        affiliation,
        contact,
        state: OwnerState::Active,
        token: Some(OwnerToken::new(hash, now())),
        network: None,
        joined_at: utc(now()),
        left_at: None,
    };
    log::act(&mut league, OrganiserAct::AddOwner(&owner))?;
    print(&league, &owner.id, of.json, Some(&token))
}

fn change(args: &OneOwnerArgs, act: OrganiserAct<'_>) -> Result<Exit, Failure> {
    let (_, mut league) = args.of.which.open()?;
    log::act(&mut league, act)?;
    print(&league, &args.id, args.of.json, None)
}

fn token(args: &TokenArgs) -> Result<Exit, Failure> {
    let (_, mut league) = args.of.which.open()?;
    if let Some(name) = &args.revoke {
        log::act(&mut league, OrganiserAct::RevokeToken { owner: &args.id, name })?;
        return print(&league, &args.id, args.of.json, None);
    }
    let (token, hash) = new_token()?;
    let act = match &args.name {
        Some(name) => {
            check_name(name).map_err(|what| Failure::usage(format!("--name: {what}")))?;
            OrganiserAct::NameToken { owner: &args.id, name, hash }
        }
        None => OrganiserAct::ReplaceToken { owner: &args.id, hash, is_at_once: args.at_once },
    };
    log::act(&mut league, act)?;
    print(&league, &args.id, args.of.json, Some(&token))
}

/// Prints the new state of an owner.
fn print(league: &League, id: &str, is_json: bool, token: Option<&str>) -> Result<Exit, Failure> {
    let Some(owner) = &league.owner(id).map_err(Failure::cannot_run)? else { return Ok(Exit::Done) };
    let mut out = screen::stdout();
    if is_json {
        let bots = league.bots().map_err(Failure::cannot_run)?;
        writeln!(out, "{}", json::text(&owner_line(owner, &bots, token)))?;
    } else if let Some(token) = token {
        writeln!(out, "{} signs in with this token, which is not shown again:\n{token}", owner.id)?;
    } else {
        let what = match owner.state {
            OwnerState::Waiting => "waits for approval",
            OwnerState::Active => "takes part",
            OwnerState::Banned => "is kept away, with its bots; `referee league owner unban` admits it again",
            OwnerState::Left => "does not take part any more; results stand",
        };
        writeln!(out, "{} {what}", owner.id)?;
    }
    Ok(Exit::Done)
}
