//! A line of an agent, as the controller takes it.

#![no_main]

use envtax_fuzz::control::answer_limits::{bounded, check_block};
use envtax_fuzz::model::visible_json;
use envtax_fuzz::protocol::transfer::bytes_of;
use envtax_fuzz::protocol::{Answer, BlockSize, Request, Response, message_in};
use libfuzzer_sys::fuzz_target;

/// More letters than the answer to a question may keep.
const MOST: usize = 2_000_000;

fuzz_target!(|bytes: &[u8]| {
    let line = String::from_utf8_lossy(bytes);
    let Some(message) = message_in(&line) else { return };
    let message = String::from_utf8_lossy(&visible_json(message.as_bytes())).into_owned();
    if serde_json::from_str::<Request>(&message).is_ok() {
        return;
    }
    let Ok(response) = serde_json::from_str::<Response>(&message) else { return };
    match bounded(response.answer) {
        Answer::Block(set) => {
            let samples = set.samples.first().map_or(0, Vec::len).min(100);
            let asked =
                BlockSize { iterations: set.iterations, samples, discard: true, limit_ns: 1 };
            if check_block(&set, set.samples.len(), &asked).is_ok() {
                assert!(set.iterations > 0 && set.samples.iter().all(|it| it.len() == samples));
            }
        }
        Answer::Piece(Some(piece)) => {
            if let Some(bytes) = bytes_of(&piece.hex) {
                assert!(bytes.len() <= piece.hex.len());
            }
        }
        answer => assert!(serde_json::to_string(&answer).is_ok_and(|text| text.len() < MOST)),
    }
});
