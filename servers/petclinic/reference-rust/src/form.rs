//! Forms: named fields, each with its rules; the first rule that is broken gives the field's message.

use std::collections::HashMap;

use jiff::Zoned;
use jiff::civil::Date;
use serde::Serialize;

/// What was typed, by field.
pub type Values = HashMap<String, String>;

#[derive(Clone, Copy)]
pub enum Rule {
    Required,
    AtMost(usize),
    TenDigits,
    Date,
    NotInTheFuture,
    OneOfOptions,
}

pub struct Field {
    pub name: &'static str,
    pub label: &'static str,
    pub kind: &'static str,
    pub rules: &'static [Rule],
    pub options: Option<Vec<Choice>>,
}

#[derive(Clone, Serialize)]
pub struct Choice {
    pub value: String,
    pub label: String,
}

/// A field as the template shows it.
#[derive(Serialize)]
pub struct Shown {
    name: &'static str,
    label: &'static str,
    r#type: &'static str,
    value: String,
    options: Option<Vec<ShownChoice>>,
    problem: Option<String>,
}

#[derive(Serialize)]
struct ShownChoice {
    #[serde(flatten)]
    choice: Choice,
    chosen: bool,
}

impl Field {
    /// A line of text.
    pub fn text(name: &'static str, label: &'static str, rules: &'static [Rule]) -> Self {
        Self {
            name,
            label,
            kind: "text",
            rules,
            options: None,
        }
    }

    /// A day.
    pub fn date(name: &'static str, label: &'static str, rules: &'static [Rule]) -> Self {
        Self {
            kind: "date",
            ..Self::text(name, label, rules)
        }
    }

    /// One of `options`.
    pub fn choice(name: &'static str, label: &'static str, options: Vec<Choice>) -> Self {
        Self {
            options: Some(options),
            ..Self::text(name, label, &[Rule::OneOfOptions])
        }
    }

    fn problem(&self, value: &str) -> Option<String> {
        self.rules.iter().find_map(|rule| self.broken(*rule, value))
    }

    fn broken(&self, rule: Rule, value: &str) -> Option<String> {
        let message = match rule {
            Rule::Required => value.is_empty().then_some("Required"),
            Rule::AtMost(limit) => {
                let fits = value.chars().count() <= limit;
                return (!fits).then(|| format!("At most {limit} characters"));
            }
            Rule::TenDigits => {
                let fits = value.len() == 10 && value.bytes().all(|byte| byte.is_ascii_digit());
                (!fits).then_some("10 digits, nothing else")
            }
            Rule::Date => day(value).is_none().then_some("A date such as 2024-05-31"),
            Rule::NotInTheFuture => {
                (day(value) > Some(Zoned::now().date())).then_some("Not in the future")
            }
            Rule::OneOfOptions => {
                let options = self.options.as_deref().unwrap_or_default();
                let known = options.iter().any(|choice| choice.value == value);
                (!known).then_some("Choose one")
            }
        };
        message.map(str::to_owned)
    }
}

fn day(text: &str) -> Option<Date> {
    let plain = text.len() == 10
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// Today as it is written in a field.
pub fn today() -> String {
    Zoned::now().date().to_string()
}

/// The values of `fields` without the white space around them, and the messages of those that are wrong.
pub fn read(fields: &[Field], mut typed: Values) -> (Values, Values) {
    let mut values = Values::new();
    let mut problems = Values::new();
    for field in fields {
        let value = typed.remove(field.name).unwrap_or_default();
        let value = value.trim().to_owned();
        if let Some(problem) = field.problem(&value) {
            problems.insert(field.name.to_owned(), problem);
        }
        values.insert(field.name.to_owned(), value);
    }
    (values, problems)
}

/// The fields with `values` and `problems` filled in.
pub fn view(fields: &[Field], values: &Values, problems: &Values) -> Vec<Shown> {
    fields
        .iter()
        .map(|field| {
            let value = values.get(field.name).cloned().unwrap_or_default();
            let options = field.options.as_ref().map(|options| {
                let shown = |choice: &Choice| ShownChoice {
                    choice: choice.clone(),
                    chosen: choice.value == value,
                };
                options.iter().map(shown).collect()
            });
            Shown {
                name: field.name,
                label: field.label,
                r#type: field.kind,
                value,
                options,
                problem: problems.get(field.name).cloned(),
            }
        })
        .collect()
}
