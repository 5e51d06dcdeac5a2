//! Compares the stream with the sets that are out.

use std::collections::HashSet;
use std::time::Instant;

use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use futures_util::StreamExt;

use super::super::broker::failed;
use super::{CoordinatorService, Open};

use referee_game::Chain;
use referee_game::Wrong;

impl CoordinatorService {
    /// Publishes sets again that the broker has lost and that no worker reports.
    #[expect(clippy::disallowed_methods, reason = "for timeouts of the network")]
    pub(super) async fn reconcile(&mut self) {
        self.reconciled = Instant::now();
        let there = match self.sets_in_stream().await {
            Ok(there) => there,
            Err(error) => {
                tracing::debug!(error = %Chain(&error), "the broker cannot be asked now");
                return;
            }
        };
        let (now, ack_wait) = (self.reconciled, self.times.ack_wait);
        for (set, open) in &mut self.open {
            if open.is_published && !there.contains(set) && now - open.seen > ack_wait {
                tracing::info!("{}: the broker has lost it", open.unit.id);
                open.is_published = false;
            }
        }
        if let Err(error) = self.republish_orphans(&there).await {
            tracing::debug!(error = %Chain(&error), "the broker cannot be asked now");
        }
    }

    /// Publishes sets again that the broker has delivered and that no worker has: a message may be lost with a connection, and
    /// the broker would deliver it again after `ack_wait` only.
    async fn republish_orphans(&mut self, there: &HashSet<u32>) -> Result<(), Wrong> {
        let delivered = self.connection.consumer().await?.cached_info().delivered.stream_sequence;
        let is_candidate = |set: &u32, open: &Open| open.holder.is_none() && there.contains(set);
        let sets = self.open.iter().filter(|(set, open)| is_candidate(set, open)).map(|(&set, _)| set);
        for set in sets.collect::<Vec<u32>>() {
            let Some(Open { unit, sequence, .. }) = self.open.get(&set) else { continue };
            let (unit, mut sequence) = (unit.id.clone(), *sequence);
            if sequence.is_none() {
                sequence = self.remove(&unit, Some(&unit)).await?;
            }
            let is_delivered = sequence.is_some_and(|sequence| sequence <= delivered);
            let (now, heard) = (self.reconciled, self.reception.since().filter(|_| is_delivered));
            let Some(open) = self.open.get_mut(&set) else { continue };
            open.sequence = sequence;
            open.orphaned = heard.map(|heard| open.orphaned.map_or(now, |since| since.max(heard)));
            // A worker that has it reports it within this time.
            let reported = self.times.hello * 3 / 2;
            if open.orphaned.is_some_and(|since| now - since >= reported) {
                tracing::info!("{unit}: the broker has delivered it to no worker");
                self.remove(&unit, None).await?;
                self.open.entry(set).and_modify(|open| open.is_published = false);
            }
        }
        Ok(())
    }

    pub(super) async fn sets_in_stream(&mut self) -> Result<HashSet<u32>, Wrong> {
        let mut stream = self.connection.stream().await?;
        if self.is_unreadable(&stream).await {
            tracing::warn!(
                "the broker has lost files of the stream {}; it is created again",
                self.connection.stream_name()
            );
            self.connection.jetstream.delete_stream(self.connection.stream_name()).await.map_err(failed)?;
            stream = self.connection.stream().await?;
        }
        // The whole store may have disappeared.
        if self.connection.consumer().await.is_err() {
            self.uploaded.clear();
            self.connection.create_objects().await?;
            self.set_consumer().await?;
        }
        let prefix = self.connection.works(&self.run);
        let mut subjects = stream.info_with_subjects(format!("{prefix}*")).await.map_err(failed)?;
        let mut sets = HashSet::new();
        while let Some(subject) = subjects.next().await {
            let (subject, _) = subject.map_err(failed)?;
            sets.extend(subject.strip_prefix(&prefix).and_then(|set| set.parse::<u32>().ok()));
        }
        Ok(sets)
    }

    /// Returns true if the broker has failed twice in a row to find the first message of the stream, which it would never
    /// deliver.
    async fn is_unreadable(&mut self, stream: &Stream) -> bool {
        let state = &stream.cached_info().state;
        let first = (state.messages > 0).then_some(state.first_sequence);
        let missing = match first {
            // Other errors are no evidence. A message that was acknowledged meanwhile is not the first one the next time.
            Some(first) => {
                let found = stream.get_raw_message(first).await;
                found.is_err_and(|error| error.kind() == RawMessageErrorKind::NoMessageFound).then_some(first)
            }
            None => None,
        };
        let before = std::mem::replace(&mut self.missing, missing);
        missing.is_some() && missing == before
    }
}
