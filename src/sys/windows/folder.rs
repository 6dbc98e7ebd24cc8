//! Listing folders.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;

use super::FilePath;

pub struct Folder(Infallible);

impl Folder {
    pub fn open(path: &FilePath) -> io::Result<Folder> {
        match path.0 {}
    }

    pub fn open_inner(&self, _entry: &Entry<'_>) -> io::Result<Folder> {
        match self.0 {}
    }

    pub fn read<'a>(&self, _buffer: &'a mut [u8]) -> io::Result<Entries<'a>> {
        match self.0 {}
    }

    pub fn is_folder(&self, _entry: &Entry<'_>) -> io::Result<bool> {
        match self.0 {}
    }

    pub fn close(self) -> io::Result<()> {
        match self.0 {}
    }
}

pub struct Entries<'a>(Infallible, PhantomData<&'a ()>);

pub struct Entry<'a> {
    pub is_folder: Option<bool>,
    name: PhantomData<&'a ()>,
}

impl Entries<'_> {
    pub fn bytes(&self) -> usize {
        match self.0 {}
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        match self.0 {}
    }
}
