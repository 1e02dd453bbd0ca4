//! Pages about pets.

use axum::Form;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;

use crate::answer::{Refusal, ids, see_owner};
use crate::clinic::Clinic;
use crate::form::{self, Choice, Field, Rule, Values};
use crate::owners::owner;
use crate::records::{Owner, Pet};

type Page = Result<Response, Refusal>;
type OwnerId = Result<Path<i64>, PathRejection>;
type PetId = Result<Path<(i64, i64)>, PathRejection>;

fn fields(clinic: &Clinic) -> Result<[Field; 3], Refusal> {
    use Rule::{AtMost, Date, NotInTheFuture, Required};
    let types = clinic.records().types()?.into_iter();
    let options = types.map(|(id, label)| Choice {
        value: id.to_string(),
        label,
    });
    Ok([
        Field::text("name", "Name", &[Required, AtMost(64)]),
        Field::date("birthDate", "Born on", &[Date, NotInTheFuture]),
        Field::choice("type", "Type", options.collect()),
    ])
}

/// The pet of that id, or 404 where it is not that owner's.
pub fn pet(clinic: &Clinic, owner: &Owner, id: i64) -> Result<Pet, Refusal> {
    clinic.records().pet(owner.id, id)?.ok_or(Refusal::NotFound)
}

fn page(
    clinic: &Clinic,
    heading: &str,
    owner: &Owner,
    fields: &[Field],
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
        about => format!("Owner: {}", owner.name),
        back => format!("/owners/{}", owner.id),
        fields => Serde(&form::view(fields, values, problems)),
    };
    clinic.pages.show_with(status, "form.html", context)
}

/// What was typed, with the one rule that needs the records: an owner's pets have different names.
fn read(
    clinic: &Clinic,
    fields: &[Field],
    owner: &Owner,
    pet_id: Option<i64>,
    typed: Values,
) -> Result<(Values, Values), Refusal> {
    let (values, mut problems) = form::read(fields, typed);
    if !problems.contains_key("name")
        && clinic
            .records()
            .has_pet_named(owner.id, &values["name"], pet_id)?
    {
        let problem = "This owner already has a pet of that name";
        problems.insert("name".to_owned(), problem.to_owned());
    }
    Ok((values, problems))
}

pub async fn new(State(clinic): State<Clinic>, id: OwnerId) -> Page {
    let owner = owner(&clinic, ids(id)?)?;
    let nothing = Values::new();
    page(
        &clinic,
        "New pet",
        &owner,
        &fields(&clinic)?,
        (&nothing, &nothing),
    )
}

pub async fn add(State(clinic): State<Clinic>, id: OwnerId, Form(typed): Form<Values>) -> Page {
    let owner = owner(&clinic, ids(id)?)?;
    let fields = fields(&clinic)?;
    let (values, problems) = read(&clinic, &fields, &owner, None, typed)?;
    if !problems.is_empty() {
        return page(&clinic, "New pet", &owner, &fields, (&values, &problems));
    }
    clinic.records().add_pet(owner.id, &values)?;
    Ok(see_owner(owner.id))
}

pub async fn edit(State(clinic): State<Clinic>, id: PetId) -> Page {
    let (owner_id, pet_id) = ids(id)?;
    let owner = owner(&clinic, owner_id)?;
    let pet = pet(&clinic, &owner, pet_id)?;
    let values = Values::from([
        ("name".to_owned(), pet.name),
        ("birthDate".to_owned(), pet.birth_date),
        ("type".to_owned(), pet.type_id.to_string()),
    ]);
    page(
        &clinic,
        "Edit pet",
        &owner,
        &fields(&clinic)?,
        (&values, &Values::new()),
    )
}

pub async fn change(State(clinic): State<Clinic>, id: PetId, Form(typed): Form<Values>) -> Page {
    let (owner_id, pet_id) = ids(id)?;
    let owner = owner(&clinic, owner_id)?;
    let pet = pet(&clinic, &owner, pet_id)?;
    let fields = fields(&clinic)?;
    let (values, problems) = read(&clinic, &fields, &owner, Some(pet.id), typed)?;
    if !problems.is_empty() {
        return page(&clinic, "Edit pet", &owner, &fields, (&values, &problems));
    }
    clinic.records().change_pet(pet.id, &values)?;
    Ok(see_owner(owner.id))
}
