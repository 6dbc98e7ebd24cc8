//! A line of a controller, as an agent takes it, and the orders of workers and guests. What is
//! asked is not done: an agent does what its controller says.

#![no_main]

use envtax_fuzz::protocol::guest::Orders;
use envtax_fuzz::protocol::transfer::bytes_of;
use envtax_fuzz::protocol::{Ask, Request, WorkerOrder, line_of, message_in};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    let _ = serde_json::from_str::<WorkerOrder>(line);
    let _ = serde_json::from_str::<Orders>(line);
    let Some(message) = message_in(line) else { return };
    let Ok(request) = serde_json::from_str::<Request>(message) else { return };
    // What was understood can be said again, and is understood as the same.
    let again = line_of(&request).expect("a request is text");
    let parsed: Request = serde_json::from_str(message_in(&again).expect("a message"))
        .unwrap_or_else(|error| panic!("{error}: {again}"));
    assert_eq!(line_of(&parsed).expect("a request is text"), again);
    if let Ask::Put { piece, .. } = request.ask {
        let _ = bytes_of(&piece.hex);
    }
});
