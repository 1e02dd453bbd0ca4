//! Several of a kind become one. What is added up says of each of its fields how, so that no new one is forgotten.

use std::collections::BTreeMap;
use std::iter::Sum;

/// The parts do not belong together; the text says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotOneLoad(pub(super) String);

/// What several of a kind become; there is always one at least.
pub(super) type Whole<T> = Result<T, NotOneLoad>;

/// Several of a kind that become one.
pub(super) trait AddUp: Sized {
    fn add_up(parts: &[&Self]) -> Whole<Self>;
}

/// Structs of which several become one. Behind each field stands a function that makes one of several of it.
macro_rules! adding_up {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty => $how:path,)+
        }
    )+) => {$(
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl $crate::record::adding_up::AddUp for $name {
            fn add_up(parts: &[&Self]) -> $crate::record::adding_up::Whole<Self> {
                Ok(Self {
                    $($field: $how(&parts.iter().map(|part| &part.$field).collect::<Vec<_>>())?,)+
                })
            }
        }
    )+};
}
pub(super) use adding_up;

pub(super) fn some<T>(parts: &[T]) -> Whole<&T> {
    let nobody = || NotOneLoad("no generator has measured anything".into());
    parts.first().ok_or_else(nobody)
}

/// The sum; of what parts may not know none where one does not.
pub(super) fn total<T: Copy + Sum>(parts: &[&T]) -> Whole<T> {
    Ok(parts.iter().map(|part| **part).sum())
}

pub(super) fn mean(parts: &[&f64]) -> Whole<f64> {
    Ok(parts.iter().copied().sum::<f64>() / parts.len() as f64)
}

pub(super) fn least<T: Copy + Ord>(parts: &[&T]) -> Whole<T> {
    some(parts)?;
    Ok(parts.iter().fold(*parts[0], |one, other| one.min(**other)))
}

pub(super) fn most<T: Copy + Ord>(parts: &[&T]) -> Whole<T> {
    some(parts)?;
    Ok(parts.iter().fold(*parts[0], |one, other| one.max(**other)))
}

/// The least that a part knows.
pub(super) fn least_known(parts: &[&Option<u32>]) -> Whole<Option<u32>> {
    Ok(parts.iter().copied().flatten().min().copied())
}

pub(super) fn any(parts: &[&bool]) -> Whole<bool> {
    Ok(parts.iter().any(|part| **part))
}

/// What all parts have in common.
pub(super) fn first<T: Clone>(parts: &[&T]) -> Whole<T> {
    some(parts).map(|one| (*one).clone())
}

/// The first example that a part has.
pub(super) fn example(parts: &[&String]) -> Whole<String> {
    let said = parts.iter().find(|one| !one.is_empty());
    Ok(said.map(|one| (*one).clone()).unwrap_or_default())
}

pub(super) fn each<T: AddUp>(parts: &[&T]) -> Whole<T> {
    T::add_up(parts)
}

/// None where a part has none, because the load has no such thing, or nobody looked.
pub(super) fn each_of_all<T: AddUp>(parts: &[&Option<T>]) -> Whole<Option<T>> {
    let all: Option<Vec<&T>> = parts.iter().map(|part| part.as_ref()).collect();
    all.map(|all| T::add_up(&all)).transpose()
}

/// That of the parts that have one.
pub(super) fn each_of_some<T: AddUp>(parts: &[&Option<T>]) -> Whole<Option<T>> {
    let some: Vec<&T> = parts.iter().copied().flatten().collect();
    (!some.is_empty()).then(|| T::add_up(&some)).transpose()
}

pub(super) fn by_name(parts: &[&BTreeMap<String, u64>]) -> Whole<BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for (name, count) in parts.iter().copied().flatten() {
        *all.entry(name.clone()).or_default() += count;
    }
    Ok(all)
}

/// One behind the other.
pub(super) fn in_a_row<T: Clone>(parts: &[&Vec<T>]) -> Whole<Vec<T>> {
    Ok(parts.iter().copied().flatten().cloned().collect())
}
