//! Sealed state: what a client carries for us and can neither read nor change.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

/// Layout of the sealed bytes: a version, a nonce, the ciphertext of expiry and payload.
const VERSION: u8 = 1;
const NONCE: usize = 24;
const EXPIRY: usize = 8;

/// Why a state cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealError {
    /// Not of our making at all.
    Malformed,
    /// Changed, for another request, or sealed with another key.
    Forged,
    /// Too old.
    Expired,
}

/// Seals and opens with one key.
pub(super) struct Sealer {
    cipher: XChaCha20Poly1305,
}

impl Sealer {
    /// With a key of its own, which ends with the process.
    pub fn random() -> Result<Sealer, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Sealer::with_key(key))
    }

    /// With a key that other processes may share.
    pub fn with_key(key: [u8; 32]) -> Sealer {
        Sealer { cipher: XChaCha20Poly1305::new(&key.into()) }
    }

    /// Seals `payload` until `expires` (milliseconds of Unix time). `binding` is not carried, but only the same opens it.
    /// `None` where the system has no random bytes or the payload is beyond the cipher.
    pub fn seal(&self, payload: &[u8], binding: &[u8], expires: u64) -> Option<String> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let plain = [&expires.to_be_bytes(), payload].concat();
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), Payload { msg: &plain, aad: binding }).ok()?;
        Some(BASE64_URL_SAFE_NO_PAD.encode([&[VERSION][..], &nonce, &sealed].concat()))
    }

    /// Opens what [`Sealer::seal`] made.
    pub fn open(&self, token: &str, binding: &[u8], now: u64) -> Result<Vec<u8>, SealError> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(token).map_err(|_| SealError::Malformed)?;
        let (head, rest) = bytes.split_first().ok_or(SealError::Malformed)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(SealError::Malformed)?;
        if *head != VERSION {
            return Err(SealError::Malformed);
        }
        let plain = self
            .cipher
            .decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: binding })
            .map_err(|_| SealError::Forged)?;
        let (expires, payload) = plain.split_first_chunk::<EXPIRY>().ok_or(SealError::Malformed)?;
        if now >= u64::from_be_bytes(*expires) {
            return Err(SealError::Expired);
        }
        Ok(payload.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_request_in_time_opens_it() {
        let sealer = Sealer::random().unwrap();
        let token = sealer.seal(b"{\"a\":1}", b"tools/call x", 1000).unwrap();
        assert_eq!(sealer.open(&token, b"tools/call x", 999).unwrap(), b"{\"a\":1}");
        assert_eq!(sealer.open(&token, b"tools/call x", 1000), Err(SealError::Expired));
        assert_eq!(sealer.open(&token, b"tools/call y", 1), Err(SealError::Forged));
        assert_eq!(Sealer::random().unwrap().open(&token, b"tools/call x", 1), Err(SealError::Forged));
        assert!(sealer.open(&format!("{token}-TAMPERED"), b"tools/call x", 1).is_err());
    }

    #[test]
    fn any_change_is_noticed() {
        let sealer = Sealer::with_key([7; 32]);
        let token = sealer.seal(b"payload", b"b", 1000).unwrap();
        for at in 0..token.len() {
            let mut changed: Vec<u8> = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(sealer.open(&changed, b"b", 1).is_err(), "byte {at}");
        }
        for foreign in ["", "12345", "null", "AQ", "★"] {
            assert!(sealer.open(foreign, b"b", 1).is_err());
        }
    }
}
