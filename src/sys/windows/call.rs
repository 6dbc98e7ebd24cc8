//! System calls that do nearly nothing, and signals: Windows has none of them.

use std::convert::Infallible;
use std::io;

use super::not_here;

pub struct IdleDescriptor(Infallible);

impl IdleDescriptor {
    pub fn open() -> io::Result<IdleDescriptor> {
        not_here("Windows has no call that does nothing with a descriptor")
    }

    pub fn duplicate_and_close(&self) -> io::Result<()> {
        match self.0 {}
    }
}

pub fn own_ids() -> io::Result<(usize, usize)> {
    not_here("Windows has no such calls")
}

pub struct FileMask(Infallible);

impl FileMask {
    pub fn set(_mask: u16) -> io::Result<FileMask> {
        not_here("Windows has no mask for new files")
    }

    pub fn set_again(&self) -> io::Result<()> {
        match self.0 {}
    }
}

pub struct SignalHandler(Infallible);

impl SignalHandler {
    pub fn install() -> io::Result<SignalHandler> {
        not_here("Windows has no signals")
    }

    pub fn install_again(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn deliver(&self) -> io::Result<()> {
        match self.0 {}
    }
}
