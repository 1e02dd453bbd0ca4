//! Scripts on a fixed number of threads, with a bounded queue before them.

use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Runtime};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::exchange::SceneResult;
use crate::host;
use crate::workflow::{Scene, Workflow};

/// The queue is full.
pub struct Refused;

struct Job {
    workflow: Workflow,
    input: String,
    reply: oneshot::Sender<Vec<SceneResult>>,
}

pub struct Executor {
    jobs: Sender<Job>,
}

impl Executor {
    pub fn start(threads: usize, queue: usize) -> Self {
        let (jobs, waiting) = bounded::<Job>(queue);
        for _ in 0..threads {
            let waiting = waiting.clone();
            thread::spawn(move || work(&waiting));
        }
        Self { jobs }
    }

    /// One result a scene. A caller that no longer waits costs nothing if its turn has not come.
    pub async fn run(
        &self,
        workflow: Workflow,
        input: String,
    ) -> Result<Vec<SceneResult>, Refused> {
        let (reply, results) = oneshot::channel();
        let job = Job {
            workflow,
            input,
            reply,
        };
        self.jobs.try_send(job).map_err(|_| Refused)?;
        results.await.map_err(|_| Refused)
    }
}

/// Each thread has a QuickJS context of its own, and keeps it.
fn work(waiting: &Receiver<Job>) {
    let context = new_context().expect("there is memory for a context");
    for job in waiting {
        if job.reply.is_closed() {
            continue;
        }
        let run = |scene| context.with(|ctx| run_scene(&ctx, scene, &job.input));
        let results = job.workflow.scenes.iter().map(run).collect();
        // Nobody reads it where the request's time was over.
        let _ = job.reply.send(results);
    }
}

fn new_context() -> rquickjs::Result<Context> {
    let context = Context::full(&Runtime::new()?)?;
    context.with(|ctx| host::install(&ctx))?;
    Ok(context)
}

/// A script that throws is a result without success.
fn run_scene(ctx: &Ctx<'_>, scene: &Scene, input: &str) -> SceneResult {
    let (values, reason) = match call(ctx, scene, input).catch(ctx) {
        Ok(values) => (Some(values), String::new()),
        Err(error) => (None, error.to_string()),
    };
    SceneResult {
        scenes_code: scene.code.clone(),
        success: values.is_some(),
        value_map: values.unwrap_or_default(),
        reason,
    }
}

fn call(ctx: &Ctx<'_>, scene: &Scene, input: &str) -> rquickjs::Result<Box<RawValue>> {
    ctx.eval::<(), _>(scene.script.as_str())?;
    let process: Function = ctx.globals().get("process")?;
    let values: rquickjs::Value = process.call((ctx.json_parse(input)?,))?;
    let text = ctx
        .json_stringify(values)?
        .map_or(Ok("{}".into()), |text| text.to_string())?;
    RawValue::from_string(text).map_err(|error| host::thrown(&error))
}
