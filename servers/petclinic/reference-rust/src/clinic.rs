//! The application: what the handlers share, and the routes.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::extract::State;
use axum::middleware;
use axum::response::Response;
use axum::routing::get;
use minijinja::context;
use minijinja::value::Serde;
use tower_http::services::ServeDir;

use crate::answer::{self, Refusal};
use crate::pages::Pages;
use crate::records::Records;
use crate::{owners, pets, visits};

/// One worker's clinic. The lock is never contended: a worker is one thread.
#[derive(Clone)]
pub struct Clinic {
    pub pages: Arc<Pages>,
    records: Arc<Mutex<Records>>,
}

impl Clinic {
    pub fn new(records: Records, contract: &Path) -> Self {
        Self {
            pages: Arc::new(Pages::new(contract)),
            records: Arc::new(Mutex::new(records)),
        }
    }

    pub fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().expect("a panic ends the whole program")
    }
}

/// Every address of the clinic.
pub fn router(clinic: Clinic) -> Router {
    let assets = ServeDir::new(clinic.pages.folder().join("assets"));
    let owner = "/owners/{owner_id}";
    let pet = "/owners/{owner_id}/pets/{pet_id}";
    Router::new()
        .route("/", get(welcome))
        .route("/vets", get(vets))
        .route("/oops", get(oops))
        .route("/owners", get(owners::list))
        .route("/owners/find", get(owners::find))
        .route("/owners/new", get(owners::new).post(owners::add))
        .route(owner, get(owners::show))
        .route(
            &format!("{owner}/edit"),
            get(owners::edit).post(owners::change),
        )
        .route(&format!("{owner}/pets/new"), get(pets::new).post(pets::add))
        .route(&format!("{pet}/edit"), get(pets::edit).post(pets::change))
        .route(
            &format!("{pet}/visits/new"),
            get(visits::new).post(visits::add),
        )
        .route(
            &format!("{pet}/visits/{{visit_id}}/edit"),
            get(visits::edit).post(visits::change),
        )
        .nest_service("/assets", assets)
        .fallback(|| async { Refusal::NotFound })
        .layer(middleware::from_fn_with_state(
            clinic.clone(),
            answer::finish,
        ))
        .with_state(clinic)
}

async fn welcome(State(clinic): State<Clinic>) -> Result<Response, Refusal> {
    clinic
        .pages
        .show("welcome.html", context! { active => "home" })
}

async fn vets(State(clinic): State<Clinic>) -> Result<Response, Refusal> {
    let vets = clinic.records().vets()?;
    clinic.pages.show(
        "vets.html",
        context! { active => "vets", vets => Serde(&vets) },
    )
}

async fn oops() -> Refusal {
    Refusal::Broken("thrown on purpose, to show what the clinic does then".into())
}
