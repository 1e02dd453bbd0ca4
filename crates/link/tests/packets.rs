//! What turning a packet back leaves right, whatever it holds.

use assay_link::turn_back;
use proptest::prelude::*;
use std::net::Ipv4Addr;

const HEAD: usize = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The Internet checksum (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low)))
        .sum()
}

fn folded(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap()
}

/// The sum that TCP and UDP take beside their own bytes.
fn pseudo_head(packet: &[u8]) -> u32 {
    let length = u32::try_from(packet.len() - HEAD).unwrap();
    sum(&packet[12..20]) + u32::from(packet[9]) + length
}

/// Where the checksum of the protocol lies.
fn place(protocol: u8) -> usize {
    HEAD + if protocol == TCP { 16 } else { 6 }
}

/// A packet with right checksums; what it holds is at least a head of its protocol.
fn packet(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, content: &[u8]) -> Vec<u8> {
    let mut made = vec![0; HEAD];
    made[0] = 0x45;
    made[2..4].copy_from_slice(&u16::try_from(HEAD + content.len()).unwrap().to_be_bytes());
    made[8] = 64;
    made[9] = protocol;
    made[12..16].copy_from_slice(&from.octets());
    made[16..20].copy_from_slice(&to.octets());
    let head = folded(sum(&made));
    made[10..12].copy_from_slice(&head.to_be_bytes());
    made.extend_from_slice(content);
    let at = place(protocol);
    made[at..at + 2].fill(0);
    let whole = folded(pseudo_head(&made) + sum(&made[HEAD..]));
    made[at..at + 2].copy_from_slice(&whole.to_be_bytes());
    made
}

fn is_right(packet: &[u8]) -> bool {
    folded(sum(&packet[..HEAD])) == 0 && folded(pseudo_head(packet) + sum(&packet[HEAD..])) == 0
}

/// Anybody but a group.
fn address() -> impl Strategy<Value = Ipv4Addr> {
    (0u8..224, any::<[u8; 3]>()).prop_map(|(first, [b, c, d])| Ipv4Addr::new(first, b, c, d))
}

proptest! {
    #[test]
    fn checksums_stay_right_and_only_the_addresses_change(
        from in address(),
        to in address(),
        protocol in prop_oneof![Just(TCP), Just(UDP)],
        content in prop::collection::vec(any::<u8>(), 20..1480),
    ) {
        let sent = packet(from, to, protocol, &content);
        prop_assert!(is_right(&sent));
        let mut back = sent.clone();
        prop_assert!(turn_back(&mut back));
        prop_assert!(is_right(&back));
        prop_assert_eq!(&back[12..16], to.octets());
        prop_assert_eq!(&back[16..20], from.octets());
        prop_assert_eq!((&back[..12], &back[20..]), (&sent[..12], &sent[20..]));
        prop_assert!(turn_back(&mut back));
        prop_assert_eq!(back, sent);
    }

    #[test]
    fn anything_else_is_left_as_it_is(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut same = bytes.clone();
        if !turn_back(&mut same) {
            prop_assert_eq!(&same, &bytes);
            prop_assert!(bytes.len() < HEAD || bytes[0] >> 4 != 4 || bytes[16] >= 224);
        }
    }
}

#[test]
fn what_has_no_way_back_is_no_packet_of_the_link() {
    let (here, all) = (Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(224, 0, 0, 22));
    assert!(!turn_back(&mut packet(here, all, UDP, &[0; 20])));
    let mut version_6 = packet(here, here, UDP, &[0; 20]);
    version_6[0] = 0x60;
    assert!(!turn_back(&mut version_6));
    assert!(!turn_back(&mut [0x45; 19]));
}
