//! Pages about owners.

use axum::Form;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::answer::{Refusal, ids, see_owner};
use crate::clinic::Clinic;
use crate::form::{self, Field, Rule, Values};
use crate::records::Owner;

type Page = Result<Response, Refusal>;
type OwnerId = Result<Path<i64>, PathRejection>;

fn fields() -> [Field; 5] {
    use Rule::{AtMost, Required, TenDigits};
    [
        Field::text("firstName", "First name", &[Required, AtMost(64)]),
        Field::text("lastName", "Last name", &[Required, AtMost(64)]),
        Field::text("address", "Address", &[Required, AtMost(255)]),
        Field::text("city", "City", &[Required, AtMost(64)]),
        Field::text("telephone", "Telephone", &[TenDigits]),
    ]
}

/// The owner of that id, or 404.
pub fn owner(clinic: &Clinic, id: i64) -> Result<Owner, Refusal> {
    clinic.records().owner(id)?.ok_or(Refusal::NotFound)
}

pub async fn find(State(clinic): State<Clinic>) -> Page {
    clinic
        .pages
        .show("owners/find.html", context! { active => "owners" })
}

pub async fn list(State(clinic): State<Clinic>, Query(query): Query<Values>) -> Page {
    let prefix = query.get("lastName").map_or("", |text| text.trim());
    let owners = clinic.records().owners(prefix)?;
    match owners.as_slice() {
        [] => {
            let context = context! { active => "owners", last_name => prefix, not_found => true };
            clinic.pages.show("owners/find.html", context)
        }
        [only] => Ok(see_owner(only.owner.id)),
        _ => clinic.pages.show(
            "owners/list.html",
            context! { active => "owners", owners => Serde(&owners) },
        ),
    }
}

pub async fn show(State(clinic): State<Clinic>, id: OwnerId) -> Page {
    let owner = owner(&clinic, ids(id)?)?;
    let pets = clinic.records().pets(owner.id)?;
    let without_pets = pets.is_empty();
    let owner = context! { pets => Serde(&pets), without_pets, ..Value::from(Serde(&owner)) };
    clinic
        .pages
        .show("owners/detail.html", context! { active => "owners", owner })
}

fn page(clinic: &Clinic, heading: &str, back: &str, values: &Values, problems: &Values) -> Page {
    let fields = form::view(&fields(), values, problems);
    let status = if problems.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let context = context! { active => "owners", heading, back, fields => Serde(&fields) };
    clinic.pages.show_with(status, "form.html", context)
}

pub async fn new(State(clinic): State<Clinic>) -> Page {
    let nothing = Values::new();
    page(&clinic, "New owner", "/owners/find", &nothing, &nothing)
}

pub async fn add(State(clinic): State<Clinic>, Form(typed): Form<Values>) -> Page {
    let (values, problems) = form::read(&fields(), typed);
    if !problems.is_empty() {
        return page(&clinic, "New owner", "/owners/find", &values, &problems);
    }
    Ok(see_owner(clinic.records().add_owner(&values)?))
}

pub async fn edit(State(clinic): State<Clinic>, id: OwnerId) -> Page {
    let owner = owner(&clinic, ids(id)?)?;
    let back = format!("/owners/{}", owner.id);
    let values = Values::from([
        ("firstName".to_owned(), owner.first_name),
        ("lastName".to_owned(), owner.last_name),
        ("address".to_owned(), owner.address),
        ("city".to_owned(), owner.city),
        ("telephone".to_owned(), owner.telephone),
    ]);
    page(&clinic, "Edit owner", &back, &values, &Values::new())
}

pub async fn change(State(clinic): State<Clinic>, id: OwnerId, Form(typed): Form<Values>) -> Page {
    let owner = owner(&clinic, ids(id)?)?;
    let (values, problems) = form::read(&fields(), typed);
    if !problems.is_empty() {
        let back = format!("/owners/{}", owner.id);
        return page(&clinic, "Edit owner", &back, &values, &problems);
    }
    clinic.records().change_owner(owner.id, &values)?;
    Ok(see_owner(owner.id))
}
