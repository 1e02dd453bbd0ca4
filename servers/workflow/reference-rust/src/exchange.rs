//! The request and the answer of an execution.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{json, to_vec};
use uuid::Uuid;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    pub request_id: Uuid,
    client_id: String,
    client_secret: String,
    pub scenes_codes: Vec<String>,
    /// Milliseconds.
    pub timeout: u64,
    #[serde(default)]
    best_effort: bool,
    args: Option<Box<RawValue>>,
}

impl Execution {
    /// The request of a body, or what is wrong with it.
    pub fn parse(body: &[u8]) -> Result<Self, String> {
        let request: Self = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let blank = |text: &str| text.trim().is_empty();
        if blank(&request.client_id) || blank(&request.client_secret) {
            return Err("clientId and clientSecret must not be blank".into());
        }
        if request.scenes_codes.is_empty() || request.timeout == 0 {
            return Err("scenesCodes must not be empty, and timeout must be above 0".into());
        }
        Ok(request)
    }

    /// The argument of the scripts, as JSON.
    pub fn input(&self) -> String {
        let args = self.args.as_ref().map_or("{}", |args| args.get());
        format!(r#"{{"requestId":"{}","args":{args}}}"#, self.request_id)
    }

    pub fn answer_results(&self, workflow: &str, results: Vec<SceneResult>) -> Response {
        let failed = results.iter().any(|result| !result.success);
        let data = Some(Data {
            request_id: self.request_id,
            results,
            description: format!("workflow {workflow} executed"),
        });
        if failed && !self.best_effort {
            return self.answer(Status::Failed, "a scene failed", data);
        }
        self.answer(Status::Success, "workflow executed", data)
    }

    pub fn answer(&self, status: Status, message: &'static str, data: Option<Data>) -> Response {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        answer(
            StatusCode::OK,
            &Answer {
                code: status as u16,
                status,
                request_id: self.request_id,
                timestamp: since_1970.map_or(0, |time| time.as_millis()),
                message,
                data,
            },
        )
    }
}

/// How an execution ended, with its code.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Success = 200,
    NotFound = 404,
    Failed = 500,
    Rejected = 503,
    Timeout = 504,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    code: u16,
    status: Status,
    request_id: Uuid,
    timestamp: u128,
    message: &'static str,
    data: Option<Data>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    request_id: Uuid,
    results: Vec<SceneResult>,
    description: String,
}

/// What one scene's script returned, or why it returned nothing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SceneResult {
    pub scenes_code: String,
    pub success: bool,
    pub value_map: Box<RawValue>,
    pub reason: String,
}

/// An answer to a request that was none.
pub fn problem(status: StatusCode, detail: &str) -> Response {
    answer(
        status,
        &json!({ "title": "Bad Request", "status": status.as_u16(), "detail": detail }),
    )
}

fn answer(status: StatusCode, content: &impl Serialize) -> Response {
    let kind = [(CONTENT_TYPE, "application/json;charset=UTF-8")];
    match to_vec(content) {
        Ok(body) => (status, kind, body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
