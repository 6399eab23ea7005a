//! Page cursors: opaque to clients, and recognised as ours.
//!
//! A cursor names the sequence number after which to go on, so edits between pages neither repeat nor skip an entry
//! that stays. The check digits catch texts that we did not mint; they keep no secret.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

fn check(list: &str, after: u64) -> [u8; 4] {
    // FNV-1a, folded: enough to tell a cursor of ours, for this list, from any other text.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in b"tocsin".iter().chain(list.as_bytes()).chain(&after.to_be_bytes()) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    ((hash >> 32) as u32 ^ hash as u32).to_be_bytes()
}

/// The cursor that goes on after `after` in the list method `list`.
pub(super) fn mint(list: &str, after: u64) -> String {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&after.to_be_bytes());
    bytes[8..].copy_from_slice(&check(list, after));
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Where a cursor of the same list goes on; `None` if it is not ours.
pub(super) fn read(list: &str, cursor: &str) -> Option<u64> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (after, digits) = bytes.split_first_chunk::<8>()?;
    let after = u64::from_be_bytes(*after);
    (digits == check(list, after)).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_by_its_own_list_alone() {
        let cursor = mint("tools", 7);
        assert_eq!(read("tools", &cursor), Some(7));
        assert_eq!(read("prompts", &cursor), None);
        for foreign in ["", "7", "AAAA", "AAAAAAAAAAcAAAAA", &cursor[1..]] {
            assert_eq!(read("tools", foreign), None, "{foreign}");
        }
    }
}
