//! One carrier for the coordinators of several runs: a league with several ladders listens on one address.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::carrier::{CarrierError, CarrierEvent, CoordinatorEnd, Order};
use crate::trial::TrialDesk;
use crate::unit::UnitId;

/// One coordinator's part of a shared carrier.
#[derive(Debug)]
pub struct SharedEnd {
    orders: UnboundedSender<Order>,
    events: UnboundedReceiver<CarrierEvent>,
    /// The thread of the carrier, which the last part waits for.
    carrier: Arc<JoinHandle<Result<(), CarrierError>>>,
}

/// Shares a carrier between these runs, given by their ids, and lets its workers try programs. A worker that one of them puts aside or drains plays for none.
///
/// # Errors
/// If no thread can be started.
pub fn share(
    end: impl CoordinatorEnd + Send + 'static,
    runs: &[String],
) -> io::Result<(Vec<SharedEnd>, TrialDesk)> {
    let (to_parts, of_router): (Vec<_>, Vec<_>) = runs.iter().map(|_| unbounded_channel()).unzip();
    let (to_carrier, of_coordinators) = unbounded_channel();
    let (to_coordinators, events) = unbounded_channel();
    let router = Router { runs: runs.to_vec(), parts: to_parts };
    let serve = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (served, ()) = tokio::join!(end.serve(of_coordinators, to_coordinators), router.run(events));
            served
        })
    };
    let carrier = Arc::new(thread::Builder::new().name("carrier".to_owned()).spawn(serve)?);
    let part = |events| SharedEnd { orders: to_carrier.clone(), events, carrier: Arc::clone(&carrier) };
    let desk = TrialDesk::new(&to_carrier);
    Ok((of_router.into_iter().map(part).collect(), desk))
}

impl CoordinatorEnd for SharedEnd {
    async fn serve(
        mut self,
        mut orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> Result<(), CarrierError> {
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => drop(self.orders.send(order)),
                    None => break,
                },
                event = self.events.recv() => match event {
                    Some(event) => drop(events.send(event)),
                    None => break,
                },
            }
        }
        drop(self.orders);
        // All of its orders have been passed on when the last part returns.
        match Arc::into_inner(self.carrier) {
            Some(carrier) => carrier.join().unwrap_or(Err(CarrierError::Panicked)),
            None => Ok(()),
        }
    }
}

/// Passes events on.
struct Router {
    runs: Vec<String>,
    parts: Vec<UnboundedSender<CarrierEvent>>,
}

impl Router {
    async fn run(self, mut events: UnboundedReceiver<CarrierEvent>) {
        while let Some(event) = events.recv().await {
            self.emit(&event);
        }
    }

    fn emit(&self, event: &CarrierEvent) {
        let is_of = |id: &UnitId, run: &String| id.run == *run;
        for (run, part) in self.runs.iter().zip(&self.parts) {
            let event = match event {
                CarrierEvent::Joined(machine, holding) => {
                    let own = holding.iter().filter(|id| is_of(id, run)).cloned();
                    CarrierEvent::Joined(machine.clone(), own.collect())
                }
                CarrierEvent::Left(name) => CarrierEvent::Left(name.clone()),
                CarrierEvent::Taken(id, _) | CarrierEvent::Moved(id, _) | CarrierEvent::Returned(id, ..)
                    if !is_of(id, run) =>
                {
                    continue;
                }
                CarrierEvent::Played(outcome, _) if !is_of(&outcome.unit, run) => continue,
                event => event.clone(),
            };
            // A coordinator that has ended needs no events.
            let _ = part.send(event);
        }
    }
}
