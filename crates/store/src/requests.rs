//! Requests to the process that plays a run, from processes that may end before it takes them up. `requests.sql` documents the
//! table.

use std::marker::PhantomData;

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::database::Schema;
use crate::error::StoreError;
use crate::rows::from_json;

/// The table, for the schema of a database.
pub(super) const REQUESTS: &str = include_str!("requests.sql");

/// The queue of requests of type `R` in a database. Any number of processes add some, and one takes them.
#[derive(Debug)]
pub struct Requests<'db, R> {
    db: &'db Connection,
    schema: &'static Schema,
    of: PhantomData<fn(R) -> R>,
}

impl<'db, R: Serialize + DeserializeOwned> Requests<'db, R> {
    pub(super) fn of(db: &'db Connection, schema: &'static Schema) -> Requests<'db, R> {
        Requests { db, schema, of: PhantomData }
    }

    /// Adds a request after all others.
    pub fn push(&self, request: &R) -> Result<(), StoreError> {
        let text = serde_json::to_string(request)?;
        let sql = "INSERT INTO requests (request) VALUES (?1)";
        self.db.execute(sql, [text]).map(drop).map_err(|error| self.schema.failed(error))
    }

    /// Returns whether no request waits. Does not wait for writers.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        self.first().map(|first| first.is_none())
    }

    /// Takes the first request; `None` if there is none.
    ///
    /// # Errors
    /// If the request is damaged, which is taken then as well; errors of the disk.
    pub fn take(&self) -> Result<Option<R>, StoreError> {
        // An empty queue, the usual case, is only read.
        let Some((id, text)) = self.first()? else { return Ok(None) };
        let sql = "DELETE FROM requests WHERE id = ?1";
        self.db.execute(sql, [id]).map_err(|error| self.schema.failed(error))?;
        let path = self.db.path().unwrap_or_default();
        from_json(&format!("{path}: table `requests`, row {id}"), &text).map(Some)
    }

    fn first(&self) -> Result<Option<(i64, String)>, StoreError> {
        let sql = "SELECT id, request FROM requests ORDER BY id LIMIT 1";
        let query = self.db.prepare_cached(sql);
        let first =
            query.and_then(|mut query| query.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional());
        first.map_err(|error| self.schema.failed(error))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use referee_game::Chain;

    use super::*;
    use crate::results::SCHEMA;

    #[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Asked {
        Drain(String),
        Stop,
    }

    fn open(directory: &Path) -> Connection {
        let path = directory.join("run.sqlite");
        drop(std::fs::File::options().create(true).append(true).open(&path).unwrap());
        SCHEMA.connect(&path, true).unwrap()
    }

    fn requests(db: &Connection) -> Requests<'_, Asked> {
        Requests::of(db, &SCHEMA)
    }

    #[test]
    fn each_request_is_taken_once_and_in_order() {
        let place = tempfile::tempdir().unwrap();
        let (asking, other, playing) = (open(place.path()), open(place.path()), open(place.path()));
        playing.execute_batch(REQUESTS).unwrap();
        let playing = requests(&playing);
        assert!(playing.is_empty().unwrap() && playing.take().unwrap().is_none());
        requests(&asking).push(&Asked::Drain("box7".to_owned())).unwrap();
        requests(&other).push(&Asked::Stop).unwrap();
        assert!(!playing.is_empty().unwrap());
        assert_eq!(playing.take().unwrap(), Some(Asked::Drain("box7".to_owned())));
        // Added while an earlier one waits.
        requests(&asking).push(&Asked::Drain("box8".to_owned())).unwrap();
        assert_eq!(playing.take().unwrap(), Some(Asked::Stop));
        assert_eq!(playing.take().unwrap(), Some(Asked::Drain("box8".to_owned())));
        assert!(playing.is_empty().unwrap() && playing.take().unwrap().is_none());
    }

    #[test]
    fn a_request_survives_the_process_that_made_it() {
        let place = tempfile::tempdir().unwrap();
        let asking = open(place.path());
        asking.execute_batch(REQUESTS).unwrap();
        requests(&asking).push(&Asked::Stop).unwrap();
        drop(asking);
        assert_eq!(requests(&open(place.path())).take().unwrap(), Some(Asked::Stop));
    }

    #[test]
    fn an_empty_queue_is_read_while_another_process_writes() {
        let place = tempfile::tempdir().unwrap();
        let (writing, playing) = (open(place.path()), open(place.path()));
        playing.execute_batch(REQUESTS).unwrap();
        playing.busy_timeout(std::time::Duration::ZERO).unwrap();
        writing.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(requests(&playing).take().unwrap().is_none());
        requests(&writing).push(&Asked::Stop).unwrap();
        assert!(requests(&playing).is_empty().unwrap(), "it is not committed");
        writing.execute_batch("COMMIT").unwrap();
        assert_eq!(requests(&playing).take().unwrap(), Some(Asked::Stop));
    }

    #[test]
    fn damaged_request_is_named_and_blocks_no_other() {
        let place = tempfile::tempdir().unwrap();
        let db = open(place.path());
        db.execute_batch(REQUESTS).unwrap();
        db.execute_batch("INSERT INTO requests VALUES (7, '{\"sing\":1}')").unwrap();
        requests(&db).push(&Asked::Stop).unwrap();
        let error = requests(&db).take().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        let error = Chain(&error).to_string();
        assert!(error.contains("run.sqlite: table `requests`, row 7: "), "{error}");
        assert_eq!(requests(&db).take().unwrap(), Some(Asked::Stop));
    }
}
