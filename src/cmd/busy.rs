//! `envtax busy`, hidden: one process of `--load`. It computes until its input closes.

use std::hint::black_box;
use std::io::{self, Read};
use std::thread;

use anyhow::Result;

use crate::exit::Exit;

pub fn run() -> Result<Exit> {
    let input = thread::spawn(|| io::stdin().read_to_end(&mut Vec::new()));
    let mut number = 1_u64;
    while !input.is_finished() {
        // About a millisecond between two questions whether it is to end.
        for _ in 0..1_000_000 {
            number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
    Ok(Exit::Done)
}
