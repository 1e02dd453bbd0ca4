//! Workflows: in Redis, and on a miss in the primary store, from where the cache is filled.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use openssl::hash::{MessageDigest, hash};
use redis::AsyncCommands;
use redis::aio::ConnectionManager;
use serde::{Deserialize, Serialize};

use crate::Failure;

const PREFIX: &str = "workflow:";
const TTL_S: u64 = 600;

/// A workflow as it is stored and cached: its scenes, in the order in which they run.
#[derive(Serialize, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub scenes: Vec<Scene>,
}

/// A script that defines `process(context)`.
#[derive(Clone, Serialize, Deserialize)]
pub struct Scene {
    pub code: String,
    pub script: String,
}

pub struct Workflows {
    cache: ConnectionManager,
    /// The primary store: the scripts of the contract, by their names.
    store: HashMap<String, Scene>,
}

impl Workflows {
    pub async fn open(redis_url: &str, contract: &str) -> Result<Self, Failure> {
        let cache = ConnectionManager::new(redis::Client::open(redis_url)?).await?;
        let mut store = HashMap::new();
        for entry in fs::read_dir(Path::new(contract).join("scenes"))? {
            let path = entry?.path();
            if let Some(code) = path.file_stem().and_then(|stem| stem.to_str()) {
                let (code, script) = (code.to_owned(), fs::read_to_string(&path)?);
                store.insert(code.clone(), Scene { code, script });
            }
        }
        Ok(Self { cache, store })
    }

    /// The workflow of these scenes; none if one of them is unknown.
    pub async fn find(&self, codes: &[String]) -> Result<Option<Workflow>, Failure> {
        let name = codes.join("-");
        let key = format!(
            "{PREFIX}{}",
            hex::encode(hash(MessageDigest::md5(), name.as_bytes())?)
        );
        let mut cache = self.cache.clone(); // one connection, shared and pipelined
        if let Some(cached) = cache.get::<_, Option<Vec<u8>>>(&key).await? {
            return Ok(Some(serde_json::from_slice(&cached)?));
        }
        let Some(scenes) = codes
            .iter()
            .map(|code| self.store.get(code).cloned())
            .collect()
        else {
            return Ok(None);
        };
        let workflow = Workflow { name, scenes };
        let () = cache
            .set_ex(&key, serde_json::to_vec(&workflow)?, TTL_S)
            .await?;
        Ok(Some(workflow))
    }
}
