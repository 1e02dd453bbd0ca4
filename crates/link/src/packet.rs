//! What is touched of a packet: the two addresses of an IPv4 head.

/// Without options.
const LEAST_HEAD: usize = 20;
const SOURCE: usize = 12;
const DESTINATION: usize = 16;
/// From here on addresses are of groups, of which none can be a sender.
const GROUPS: u8 = 224;

/// Makes an IPv4 packet one that comes from where it goes to, and goes to where it comes from; whether it is one that
/// has such a way back. Any other is left as it is.
///
/// No checksum changes: those of IP, TCP and UDP are sums over both addresses.
pub fn turn_back(packet: &mut [u8]) -> bool {
    if packet.len() < LEAST_HEAD || packet[0] >> 4 != 4 || packet[DESTINATION] >= GROUPS {
        return false;
    }
    let (before, after) = packet.split_at_mut(DESTINATION);
    before[SOURCE..].swap_with_slice(&mut after[..DESTINATION - SOURCE]);
    true
}
