//! The margins: how far a row's cost may be from the reference's and still count as the same.
//!
//! One margin is for all rows (`--margin`). A rule for some of them, such as those of one area,
//! belongs in [`Margins::of`], which is the only place that knows which margin a row has.

/// Half-widths of what counts as the same, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// That of all rows for which there is no other.
    pub general: f64,
}

impl Margins {
    pub fn general(share: f64) -> Margins {
        Margins { general: share }
    }

    /// The margin of a row of that area, such as `file`.
    pub fn of(&self, _area: &str) -> f64 {
        self.general
    }
}
