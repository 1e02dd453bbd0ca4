//! The client's side: one question, asked over kept connections.

use http_body_util::{BodyExt, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// The upstream and the connections to it; a clone shares them.
#[derive(Clone)]
pub struct Upstream {
    client: Client<HttpConnector, Empty<Bytes>>,
    question: Uri,
}

impl Upstream {
    pub fn new(question: Uri) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, question }
    }

    /// The body of its answer; an error where none came whole.
    pub async fn ask(&self) -> Result<Bytes, Box<dyn std::error::Error + Send + Sync>> {
        let answer = self.client.get(self.question.clone()).await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }
}
