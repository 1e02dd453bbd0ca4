//! The loop as the program runs it: a pair of sockets takes the place of the device, as either keeps packets apart.

use assay_link::{Settings, carry};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

struct Going {
    kernel: UnixDatagram,
    asks: BufReader<UnixStream>,
    ended: JoinHandle<std::io::Result<()>>,
}

fn going(round_trip: Duration, loss: f64) -> Going {
    let (kernel, device) = UnixDatagram::pair().unwrap();
    let (asks, control) = UnixStream::pair().unwrap();
    kernel.set_read_timeout(Some(PATIENCE)).unwrap();
    asks.set_read_timeout(Some(PATIENCE)).unwrap();
    let seed = 1;
    let settings = Settings {
        round_trip,
        loss,
        seed,
    };
    let ended = spawn(move || carry(device, control, &settings));
    Going {
        kernel,
        asks: BufReader::new(asks),
        ended,
    }
}

impl Going {
    fn counters(&mut self) -> String {
        self.asks.get_mut().write_all(b"?").unwrap();
        let mut line = String::new();
        self.asks.read_line(&mut line).unwrap();
        line
    }
}

/// An IPv4 head from .1 to .2, and a number.
fn packet(number: u8) -> [u8; 21] {
    let mut made = [0; 21];
    made[0] = 0x45;
    made[12..16].copy_from_slice(&[10, 77, 0, 1]);
    made[16..20].copy_from_slice(&[10, 77, 0, 2]);
    made[20] = number;
    made
}

#[test]
fn packets_come_back_turned_in_order_and_not_before_their_time() {
    let way = Duration::from_millis(30);
    let mut link = going(2 * way, 0.0);
    let begin = Instant::now();
    for number in 0..9 {
        link.kernel.send(&packet(number)).unwrap();
    }
    link.kernel.send(&[0x60; 40]).unwrap();
    let mut buffer = [0; 64];
    for number in 0..9 {
        assert_eq!(link.kernel.recv(&mut buffer).unwrap(), 21);
        assert!(begin.elapsed() >= way);
        assert_eq!(buffer[12..21], [10, 77, 0, 2, 10, 77, 0, 1, number]);
    }
    let said = link.counters();
    assert!(
        said.starts_with("{\"packets\":9,\"lost\":0,\"overflowed\":0,\"late\":"),
        "{said}"
    );
    assert!(link.counters().starts_with("{\"packets\":0,"));
}

#[test]
fn lost_packets_do_not_come_back() {
    let mut link = going(Duration::from_millis(1), 1.0);
    for number in 0..5 {
        link.kernel.send(&packet(number)).unwrap();
    }
    // Packets that are there are read before the question that came behind them is answered.
    let said = link.counters();
    assert!(said.starts_with("{\"packets\":5,\"lost\":5,"), "{said}");
    link.kernel.set_nonblocking(true).unwrap();
    assert!(link.kernel.recv(&mut [0; 64]).is_err());
}

#[test]
fn it_ends_when_it_is_left_alone() {
    let Going {
        kernel,
        asks,
        ended,
    } = going(Duration::from_millis(20), 0.0);
    kernel.send(&packet(0)).unwrap();
    drop(asks);
    ended.join().unwrap().unwrap();
}
