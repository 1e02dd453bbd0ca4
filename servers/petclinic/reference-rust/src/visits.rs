//! Pages about visits.

use axum::Form;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;

use crate::answer::{Refusal, ids, see_owner};
use crate::clinic::Clinic;
use crate::form::{self, Field, Rule, Values};
use crate::owners::owner;
use crate::pets::pet;
use crate::records::{Owner, Pet, Visit};

type Page = Result<Response, Refusal>;
type PetId = Result<Path<(i64, i64)>, PathRejection>;
type VisitId = Result<Path<(i64, i64, i64)>, PathRejection>;

fn fields() -> [Field; 2] {
    use Rule::{AtMost, Date, Required};
    [
        Field::date("date", "Date", &[Date]),
        Field::text("description", "What was done", &[Required, AtMost(255)]),
    ]
}

/// The owner and the pet that an address names, or 404 unless they belong together.
fn subject(clinic: &Clinic, owner_id: i64, pet_id: i64) -> Result<(Owner, Pet), Refusal> {
    let owner = owner(clinic, owner_id)?;
    let pet = pet(clinic, &owner, pet_id)?;
    Ok((owner, pet))
}

fn visit(clinic: &Clinic, pet: &Pet, id: i64) -> Result<Visit, Refusal> {
    clinic.records().visit(pet.id, id)?.ok_or(Refusal::NotFound)
}

fn page(
    clinic: &Clinic,
    heading: &str,
    (owner, pet): (&Owner, &Pet),
    (values, problems): (&Values, &Values),
) -> Page {
    let status = if problems.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let context = context! {
        active => "owners",
        heading,
        about => format!("{}, owner: {}", pet.name, owner.name),
        back => format!("/owners/{}", owner.id),
        fields => Serde(&form::view(&fields(), values, problems)),
    };
    clinic.pages.show_with(status, "form.html", context)
}

pub async fn new(State(clinic): State<Clinic>, id: PetId) -> Page {
    let (owner_id, pet_id) = ids(id)?;
    let (owner, pet) = subject(&clinic, owner_id, pet_id)?;
    let values = Values::from([("date".to_owned(), form::today())]);
    page(
        &clinic,
        "New visit",
        (&owner, &pet),
        (&values, &Values::new()),
    )
}

pub async fn add(State(clinic): State<Clinic>, id: PetId, Form(typed): Form<Values>) -> Page {
    let (owner_id, pet_id) = ids(id)?;
    let (owner, pet) = subject(&clinic, owner_id, pet_id)?;
    let (values, problems) = form::read(&fields(), typed);
    if !problems.is_empty() {
        return page(&clinic, "New visit", (&owner, &pet), (&values, &problems));
    }
    clinic.records().add_visit(pet.id, &values)?;
    Ok(see_owner(owner.id))
}

pub async fn edit(State(clinic): State<Clinic>, id: VisitId) -> Page {
    let (owner_id, pet_id, visit_id) = ids(id)?;
    let (owner, pet) = subject(&clinic, owner_id, pet_id)?;
    let visit = visit(&clinic, &pet, visit_id)?;
    let values = Values::from([
        ("date".to_owned(), visit.date),
        ("description".to_owned(), visit.description),
    ]);
    page(
        &clinic,
        "Edit visit",
        (&owner, &pet),
        (&values, &Values::new()),
    )
}

pub async fn change(State(clinic): State<Clinic>, id: VisitId, Form(typed): Form<Values>) -> Page {
    let (owner_id, pet_id, visit_id) = ids(id)?;
    let (owner, pet) = subject(&clinic, owner_id, pet_id)?;
    let visit = visit(&clinic, &pet, visit_id)?;
    let (values, problems) = form::read(&fields(), typed);
    if !problems.is_empty() {
        return page(&clinic, "Edit visit", (&owner, &pet), (&values, &problems));
    }
    clinic.records().change_visit(visit.id, &values)?;
    Ok(see_owner(owner.id))
}
