//! Axes: from values to pixels, and the values at which an axis is labelled.

/// A logarithmic axis.
#[derive(Clone, Copy)]
pub struct Log {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// A tax beyond these is drawn at the end of the axis.
const LEAST: f64 = 1e-12;
const MOST: f64 = 1e15;

impl Log {
    /// An axis that shows all of the values, between the pixels `from` and `to`.
    pub fn of(values: impl IntoIterator<Item = f64>, (from, to): (f64, f64)) -> Log {
        let usual = |value: &f64| value.is_finite() && *value > 0.0;
        let values = values.into_iter().filter(usual).map(|value| value.clamp(LEAST, MOST));
        let (low, high) =
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let (low, high) = if low > high { (0.5, 2.0) } else { (low, high) };
        // A narrow range fills no axis: differences of a per cent would look like walls.
        let room = (high / low).powf(0.04).max(1.02);
        let spread = (1.25 / (high / low)).max(1.0).sqrt();
        Log { low: low / room / spread, high: high * room * spread, from, to }
    }

    pub fn at(&self, value: f64) -> f64 {
        let value = if value > 0.0 { value.clamp(self.low, self.high) } else { self.low };
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share * (self.to - self.from)
    }

    /// Round values within the axis, some four to eight of them.
    pub fn ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = match decades {
            wide if wide > 4.0 => &[1.0],
            wide if wide > 2.0 => &[1.0, 3.0],
            wide if wide > 1.0 => &[1.0, 2.0, 5.0],
            wide if wide > 0.3 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            _ => return linear(self.low, self.high, 5),
        };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let all =
            (first..=last).flat_map(|power| steps.iter().map(move |it| it * 10f64.powi(power)));
        let mut ticks: Vec<f64> = all.filter(|it| *it >= self.low && *it <= self.high).collect();
        while ticks.len() > 9 {
            ticks = ticks.into_iter().step_by(2).collect();
        }
        ticks
    }
}

/// Round values between the two, at most about `most`.
pub fn linear(low: f64, high: f64, most: usize) -> Vec<f64> {
    let span = high - low;
    if span <= 0.0 || !span.is_finite() {
        return vec![low];
    }
    let rough = span / most as f64;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].map(|it| it * power).into_iter().find(|it| *it >= rough);
    let step = step.unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first + 100)).map(|number| number as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_values_and_their_ticks() {
        for values in [vec![0.9, 1.0, 1.1], vec![0.3, 1.0, 155.0], vec![1.0, 1e9], vec![1.0]] {
            let axis = Log::of(values.clone(), (10.0, 110.0));
            assert!(values.iter().all(|it| (10.0..=110.0).contains(&axis.at(*it))), "{values:?}");
            let ticks = axis.ticks();
            assert!((2..=10).contains(&ticks.len()), "{values:?}: {ticks:?}");
            assert!(axis.at(values[0]) < axis.at(values[0] * 1.5));
        }
        let odd = Log::of([f64::NAN, 0.0, -1.0], (0.0, 1.0));
        assert!(odd.at(f64::NAN).is_finite() && odd.at(1.0) > 0.4);
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(linear(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear(3.0, 3.0, 5), [3.0]);
    }
}
