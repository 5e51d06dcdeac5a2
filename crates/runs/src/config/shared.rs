//! Settings that several tables of files have among their own keys, as one type. Serde's `flatten` would lose the lines of errors and
//! the list of the known keys, so that the keys move into a table of their own before the types are read.

use std::iter;

use referee_game::Wrong;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, MapDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::suggestion::quoted;
use super::with_suggestion;

/// The keys of such a type, which refuses others.
pub(crate) struct SharedKeys {
    /// The field that has the type, in braces, which no key needs.
    field: &'static str,
    keys: Vec<String>,
}

impl SharedKeys {
    pub(crate) fn of<T: DeserializeOwned>(field: &'static str) -> SharedKeys {
        let unknown = MapDeserializer::<_, Error>::new(iter::once(("", ())));
        let refused = T::deserialize(unknown).err().map_or_else(String::new, |error| error.to_string());
        SharedKeys { field, keys: quoted(&refused).skip(1).map(str::to_owned).collect() }
    }

    /// Leaves out a key that a table does not have.
    #[cfg(feature = "http")]
    pub(crate) fn without(mut self, key: &str) -> SharedKeys {
        self.keys.retain(|other| other != key);
        self
    }

    /// Moves the keys of a table into one of their own.
    fn nest(&self, table: &mut DeTable<'_>) {
        if let Some((key, value)) = table.remove_entry(self.field) {
            // In a file it is refused: no type has this one.
            table.insert(Spanned::new(key.span(), format!("{} ", self.field).into()), value);
        }
        let own = self.keys.iter().filter_map(|key| table.remove_entry(&**key)).collect();
        table.insert(Spanned::new(0..0, self.field.into()), Spanned::new(0..0, DeValue::Table(own)));
    }
}

/// Parses a file with such types, those that are fields of others first, in the tables that `tables` finds.
///
/// # Errors
/// With the line, if it is not valid.
pub(crate) fn from_toml<'a, T: DeserializeOwned>(
    text: &'a str,
    shared: &[SharedKeys],
    tables: impl for<'t> FnOnce(&'t mut DeTable<'a>) -> Vec<&'t mut DeTable<'a>>,
) -> Result<T, Wrong> {
    let parsed = DeTable::parse(text).and_then(|mut root| {
        for table in tables(root.get_mut()) {
            shared.iter().for_each(|keys| keys.nest(table));
        }
        T::deserialize(Deserializer::from(root)).map_err(|mut error| {
            error.set_input(Some(text));
            error
        })
    });
    parsed.map_err(|error| {
        let listed = |what: String, SharedKeys { field, keys }: &SharedKeys| {
            what.replace(&format!("`{field}`"), &format!("`{}`", keys.join("`, `")))
        };
        with_suggestion(&shared.iter().rev().fold(error.to_string(), listed))
    })
}

#[cfg(test)]
mod tests {
    use crate::tournament::TournamentConfig;

    const REST: &str = "\n[format]\nkind = \"round_robin\"\n[[entrants]]\ncommand = \"a\"\n";

    #[test]
    fn errors_have_their_line_and_list_shared_keys_among_others() {
        let list = "`opening_plies`, `openings`, `opening_start`, `order`, `clock`, `margin`, `on_fault`, `trust_outages`, `resign`, \
             `draw`, `max_moves`, `syzygy`, `hello_limit`, `ready_limit`, `hide_legal`, ";
        for (line, what) in [
            ("helo_limit = \"1s\"", &["unknown field `helo_limit`", list, "did you mean `hello_limit`?"][..]),
            ("opening_play = 2", &["unknown field `opening_play`", list, "did you mean `opening_plies`?"]),
            ("resing = \"x\"", &["unknown field `resing`", list, "did you mean `resign`?"]),
            ("terms = { clock = \"none\" }", &["unknown field `terms`", list]),
            ("\"{terms}\" = { clock = \"none\" }", &["unknown field `{terms} `", list]),
            ("\"{adjudication}\" = {}", &["unknown field `{adjudication} `", list]),
            ("margin = 20", &["  |          ^^\ninvalid type: integer `20`, expected a string"]),
            ("margin = \"20\"", &["invalid duration `20`"]),
            ("max_moves = 0", &["expected a nonzero u32"]),
            ("order = \"fiel\"", &["unknown variant `fiel`", "did you mean `file`?"]),
            ("draw = \"score=10\"\ndraw = \"score=10\"", &["duplicate key"]),
        ] {
            let error = TournamentConfig::parse(&format!("game = \"jeex\"\n{line}{REST}")).expect_err(line);
            let error = error.to_string();
            let place =
                format!("{} | {}\n", line.lines().count() + 1, line.lines().last().unwrap_or_default());
            assert!(
                error.contains(&place) && what.iter().all(|what| error.contains(what)),
                "{line}: {error}"
            );
        }
    }

    #[test]
    fn a_file_is_written_with_shared_keys_among_others() {
        let text =
            "game = \"jeex\"\nopening_plies = 4\nclock = \"tc=10\"\ntrust_outages = true\nmax_moves = 9\n";
        let written = TournamentConfig::parse(&format!("{text}{REST}")).and_then(|read| Ok(read.to_toml()?));
        let written = written.expect("it can be written");
        let (root, _) = written.split_once("\n[").expect("tables");
        assert!(text.lines().all(|line| root.lines().any(|other| line == other)), "{written}");
        let again = TournamentConfig::parse(&written).and_then(|read| Ok(read.to_toml()?));
        assert_eq!(again.expect("it can be read"), written);
    }
}
