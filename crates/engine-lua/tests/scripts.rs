//! Scripts in all their states, without a load: what is handed over between states and to `done`.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use assay_engine::{Answer, Supply};
use assay_engine_lua::{Script, ScriptError, Settings, Statistics, Summary};

struct Place {
    listener: TcpListener,
    file: PathBuf,
}

impl Place {
    fn new(name: &str, text: &str) -> Self {
        let file = std::env::temp_dir().join(format!("assay-{}-{name}.lua", std::process::id()));
        fs::write(&file, text).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { listener, file }
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    fn load(&self, threads: u32) -> Script {
        Script::load(Settings {
            file: self.file.to_str().unwrap().into(),
            scheme: "http".into(),
            host: "127.0.0.1".into(),
            port: Some(self.port().to_string()),
            addresses: vec![self.listener.local_addr().unwrap()],
            path: "/p".into(),
            headers: vec![("A".into(), "b".into())],
            threads,
            arguments: vec!["http://h/p".into(), "x".into()],
            may_reach_others: false,
        })
        .unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_file(&self.file).unwrap();
    }
}

fn next(supply: &mut Supply) -> String {
    let mut bytes = Vec::new();
    supply.source.next(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn statistics(counts: &[(u64, u64)], is_strict: bool) -> Statistics {
    Statistics {
        counts: counts.to_vec(),
        min: counts[0].0,
        max: counts[counts.len() - 1].0,
        mean: 2.5,
        stdev: 0.5,
        is_strict,
    }
}

/// Runs `done` with a script whose assertions are the test.
fn done(name: &str, text: &str, is_strict: bool) -> Result<(), ScriptError> {
    let place = Place::new(name, &format!("function done(s, l, r) {text} end"));
    let counts = [(1, 2), (3, 1), (7, 1)];
    let summary = Summary {
        duration_us: 5,
        requests: 4,
        bytes: 3,
        ..Summary::default()
    };
    place.load(1).done(
        summary,
        statistics(&counts, is_strict),
        statistics(&counts, is_strict),
    )
}

#[test]
fn without_request_every_thread_has_its_own_fixed_bytes() {
    let place = Place::new(
        "fixed",
        "local n = 0
         function setup(thread) n = n + 1; thread:set('number', n) end
         function init(args) wrk.path = wrk.path .. number .. args[1] end",
    );
    let mut script = place.load(2);
    let ready = script.prepare().unwrap();
    assert_eq!(ready.addresses[0].port(), place.port());
    let supplies = script.supplies().unwrap();
    let texts: Vec<_> = supplies
        .iter()
        .map(|s| String::from_utf8(s.fixed.clone().unwrap()).unwrap())
        .collect();
    assert!(texts[0].starts_with("GET /p1x HTTP/1.1\r\n"));
    assert!(texts[1].starts_with("GET /p2x HTTP/1.1\r\n"));
    assert!(texts[0].contains(&format!("\r\nHost: 127.0.0.1:{}\r\n", place.port())));
    assert!(texts[0].contains("\r\nA: b\r\n"));
    assert_eq!(ready.request, texts[0].as_bytes());
}

#[test]
fn requests_delays_and_answers_meet_in_the_threads_state() {
    let place = Place::new(
        "dynamic",
        "local last = 'none'
         function request() return wrk.format('POST', '/' .. last, {}, 'b') end
         function delay() return 1.9 end
         function response(status, headers, body)
           last = status .. (headers['X-A'] or '') .. (headers['x-a'] or '') .. body
           if status == 500 then wrk.thread:stop() end
         end",
    );
    let mut script = place.load(1);
    script.prepare().unwrap();
    let mut supply = script.supplies().unwrap().remove(0);
    assert!(supply.fixed.is_none() && supply.wants_answers && supply.has_delays);
    assert_eq!(supply.source.delay().unwrap(), Duration::from_millis(1));
    assert!(next(&mut supply).starts_with("POST /none HTTP/1.1\r\n"));
    let head = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nX-A: 2\r\n\r\n";
    let answer = Answer {
        status: 200,
        head,
        body: b"\xffz",
    };
    supply.source.answered(answer).unwrap();
    let mut bytes = Vec::new();
    supply.source.next(&mut bytes).unwrap();
    assert!(bytes.starts_with(b"POST /2002\xffz HTTP/1.1\r\n"));
    assert!(bytes.ends_with(b"\r\n\r\nb"));
    assert!(!supply.source.is_stopped());
    let failed = Answer {
        status: 500,
        ..answer
    };
    supply.source.answered(failed).unwrap();
    assert!(supply.source.is_stopped());
}

#[test]
fn tables_go_from_state_to_state_and_functions_do_not() {
    let place = Place::new(
        "tables",
        "local mine
         function setup(thread)
           mine = thread
           thread:set('t', { list = { 1, 'two' }, [true] = 0.5 })
           local fine, problem = pcall(thread.set, thread, 'f', print)
           assert(not fine and problem == \"cannot transfer 'function' to thread\", problem)
         end
         function init() t.list[3] = t[true] end
         function done()
           local t = mine:get('t')
           assert(t.list[1] == 1 and t.list[2] == 'two' and t.list[3] == 0.5)
           assert(mine:get('nothing') == nil)
         end",
    );
    let mut script = place.load(1);
    script.prepare().unwrap();
    let none = statistics(&[(1, 1)], false);
    script.done(Summary::default(), none.clone(), none).unwrap();
}

#[test]
fn done_is_given_the_figures() {
    done(
        "figures",
        "assert(s.duration == 5 and s.requests == 4 and s.bytes == 3 and s.errors.timeout == 0)
         assert(l.min == 1 and l.max == 7 and l.mean == 2.5 and l.stdev == 0.5 and #l == 3)
         local value, count = l(2)
         assert(value == 3 and count == 1)
         value, count = l(4)
         assert(value == 0 and count == 3)
         assert(l.anything == 'anything')
         assert(l:percentile(50) == 1 and l:percentile(75) == 3 and l:percentile(100) == 7)",
        false,
    )
    .unwrap();
}

#[test]
fn strict_percentiles_are_half_a_rank_above() {
    let text = "assert(l:percentile(50) == 3 and l:percentile(100) == 0, l:percentile(50))";
    done("strict", text, true).unwrap();
}

#[test]
fn an_error_in_done_is_told_with_its_place() {
    let error = done("panic", "error('no')", false).unwrap_err().to_string();
    assert!(error.starts_with("PANIC: unprotected error in call to Lua API ("));
    assert!(error.ends_with("-panic.lua:1: no)"), "{error}");
}

#[test]
fn what_request_gives_must_be_text() {
    let place = Place::new("text", "function request() return {} end");
    let error = place.load(1).prepare().unwrap_err();
    assert!(matches!(error, ScriptError::Uncaught(_)), "{error}");
}

#[test]
fn a_script_that_does_not_load_is_left_out_of_every_state() {
    let place = Place::new("unread", "this is no Lua");
    let mut script = place.load(2);
    script.prepare().unwrap();
    assert_eq!(script.messages().len(), 3);
    assert!(script.supplies().unwrap()[0].fixed.is_some());
}

#[test]
fn a_host_that_nobody_answers_for_is_told() {
    let place = Place::new("refused", "");
    let file = place.file.to_str().unwrap().to_owned();
    let settings = Settings {
        file,
        host: "127.0.0.1".into(),
        port: Some("1".into()),
        addresses: vec!["127.0.0.1:1".parse().unwrap()],
        threads: 1,
        ..Settings::default()
    };
    let error = Script::load(settings).unwrap().prepare().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unable to connect to 127.0.0.1:1 Connection refused"
    );
}

#[test]
fn all_of_luajit_is_there() {
    let place = Place::new(
        "libraries",
        "assert(require('ffi').sizeof('int') == 4 and require('bit').band(6, 3) == 2)
         assert(jit.version_num >= 20100 and _VERSION == 'Lua 5.1' and debug.traceback and os.exit)
         assert(require('wrk') == wrk)",
    );
    assert_eq!(place.load(1).messages(), &[] as &[String]);
}

#[test]
fn a_module_in_c_finds_lua() {
    // Debian's lua-socket and lua-cjson, which is what scripts ask for.
    let text = "assert(require('socket').gettime() > 0)\
        assert(require('cjson').encode({ 1, 'x' }) == '[1,\"x\"]')\
        local failed = pcall(require, 'no.such.module')\
        assert(not failed)";
    let script = Place::new("modules", text).load(1);
    assert_eq!(script.messages(), [] as [String; 0]);
}
