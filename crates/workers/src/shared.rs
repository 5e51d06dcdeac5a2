//! Shares a carrier among the coordinators of several runs: a league with several ladders listens on one address.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::carrier::{CarrierEvent, CoordinatorEnd};
use crate::coordinator::Coordinator;
use crate::trial::TrialQueue;
use referee_store::{Leases, StoreError};

/// Starts a coordinator for each of these leases, as [`Coordinator::start`] does. They share a carrier, whose workers also
/// try programs. A worker that one of them puts aside or drains plays for none.
///
/// # Errors
/// If the leases cannot be read, or no thread can be started.
pub fn share(
    end: impl CoordinatorEnd + Send + 'static,
    leases: Vec<Leases>,
    timeout: Duration,
) -> Result<(Vec<Coordinator>, TrialQueue), StoreError> {
    let (orders, of_coordinators) = unbounded_channel();
    let (to_coordinators, events) = unbounded_channel();
    let mut router = Router::default();
    let mut of_router = Vec::with_capacity(leases.len());
    for of_run in &leases {
        let (to_coordinator, events) = unbounded_channel();
        router.0.insert(of_run.run()?, to_coordinator);
        of_router.push(events);
    }
    let serve = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (served, ()) = tokio::join!(end.serve(of_coordinators, to_coordinators), router.run(events));
            served
        })
    };
    let carrier = Arc::new(thread::Builder::new().name("carrier".to_owned()).spawn(serve)?);
    let desk = TrialQueue::new(&orders);
    let coordinators = of_router.into_iter().zip(leases).map(|(events, leases)| {
        Coordinator::with(orders.clone(), events, Arc::clone(&carrier), leases, timeout)
    });
    Ok((coordinators.collect::<Result<_, _>>()?, desk))
}

/// Passes events on to the coordinators, by the ids of their runs.
#[derive(Default)]
struct Router(BTreeMap<String, UnboundedSender<CarrierEvent>>);

impl Router {
    async fn run(self, mut events: UnboundedReceiver<CarrierEvent>) {
        while let Some(event) = events.recv().await {
            self.pass(event);
        }
    }

    fn pass(&self, event: CarrierEvent) {
        // A coordinator that has ended needs no events.
        let coordinator = match &event {
            CarrierEvent::Taken(id, _) | CarrierEvent::Moved(id, _) | CarrierEvent::Returned(id, ..) => {
                self.0.get(&id.run)
            }
            CarrierEvent::Played(outcome, _) => self.0.get(&outcome.unit.run),
            CarrierEvent::Joined(machine, holding) => {
                for (run, coordinator) in &self.0 {
                    let own = holding.iter().filter(|id| id.run == *run).cloned();
                    let _ = coordinator.send(CarrierEvent::Joined(machine.clone(), own.collect()));
                }
                return;
            }
            CarrierEvent::Left(_) | CarrierEvent::Incompatible(..) => {
                for coordinator in self.0.values() {
                    let _ = coordinator.send(event.clone());
                }
                return;
            }
        };
        if let Some(coordinator) = coordinator {
            let _ = coordinator.send(event);
        }
    }
}
