//! A server's program, running on a port of the system's choice.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A running server; ended when dropped.
pub struct Server {
    pub child: Child,
    pub address: String,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts `program` on port 0 and waits for it to say where it listens.
    pub fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = command(program);
        command
            .args(["--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut server = Self {
            child,
            address: String::new(),
            stdout,
        };
        let line = server.line();
        server.address = line
            .trim()
            .trim_start_matches("listening on http://")
            .trim_end_matches('/')
            .to_owned();
        server
    }

    /// The next line it prints.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout
            .read_line(&mut line)
            .expect("its output can be read");
        line
    }

    /// Asks it to end by SIGTERM; all that it still prints.
    pub fn terminate(mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .expect("kill runs")
                .success()
        );
        let mut text = String::new();
        self.stdout
            .read_to_string(&mut text)
            .expect("its output can be read");
        assert!(self.child.wait().expect("it ends").success());
        text
    }

    /// A connection whose reads give up in the end.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it accepts");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a timeout can be set");
        stream
    }

    /// Sends `bytes`, the last of which ask for the end of the connection, and returns all that comes back.
    pub fn converse(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("it reads");
        rest(stream)
    }

    /// Sends `bytes`, shuts the sending side, and returns all that comes back.
    pub fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("it reads");
        stream
            .shutdown(Shutdown::Write)
            .expect("the sending side can be shut");
        rest(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, as the test wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `program` without the environment of whoever runs the tests.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_remove("HOST").env_remove("PORT");
    command
}

/// All that arrives until the server closes.
pub fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    stream
        .read_to_end(&mut bytes)
        .expect("it answers and closes");
    String::from_utf8_lossy(&bytes).into_owned()
}
