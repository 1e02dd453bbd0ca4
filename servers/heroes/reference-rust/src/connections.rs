//! Connections to PostgreSQL that requests share.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::RwLock;
use tokio_postgres::{Client, NoTls, Statement};

use crate::Failure;

/// An open connection with the one statement that it ever runs.
pub struct Prepared {
    pub client: Client,
    pub statement: Statement,
}

/// As many connections as asked for, each opened when it is first needed and again after it broke.
///
/// Nobody takes one away from the others: queries of several requests are under way on each at a time, in
/// the order in which they were sent (the protocol's pipelining). So a backend finds its next query waiting
/// and need not sleep between two, which is most of what a query by primary key costs where server and
/// database share a core.
pub struct Connections {
    slots: Vec<RwLock<Option<Arc<Prepared>>>>,
    next: AtomicUsize,
    address: String,
    sql: &'static str,
}

impl Connections {
    /// `size` connections to DATABASE_URL, none of them open yet, for the statement `sql`.
    pub fn new(size: usize, sql: &'static str) -> Result<Self, Failure> {
        if size == 0 {
            return Err("POOL is 0: at least one connection is needed".into());
        }
        Ok(Self {
            slots: (0..size).map(|_| RwLock::new(None)).collect(),
            next: AtomicUsize::new(0),
            address: env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set")?,
            sql,
        })
    }

    /// The next connection in turn, opened if need be.
    pub async fn get(&self) -> Result<Arc<Prepared>, tokio_postgres::Error> {
        let slot = &self.slots[self.next.fetch_add(1, Ordering::Relaxed) % self.slots.len()];
        if let Some(open) = usable(&*slot.read().await) {
            return Ok(open);
        }
        let mut place = slot.write().await;
        if let Some(open) = usable(&place) {
            return Ok(open); // another request opened it meanwhile
        }
        let (client, connection) = tokio_postgres::connect(&self.address, NoTls).await?;
        // Its end shows in `is_closed` and in the queries under way.
        tokio::spawn(connection);
        let statement = client.prepare(self.sql).await?;
        Ok(Arc::clone(
            place.insert(Arc::new(Prepared { client, statement })),
        ))
    }
}

fn usable(place: &Option<Arc<Prepared>>) -> Option<Arc<Prepared>> {
    place
        .as_ref()
        .filter(|open| !open.client.is_closed())
        .map(Arc::clone)
}
