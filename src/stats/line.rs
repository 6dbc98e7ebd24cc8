//! A straight line through positive times, by relative errors.

/// `time = start + slope * size`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub start: f64,
    pub slope: f64,
}

impl Line {
    pub fn at(&self, size: f64) -> f64 {
        self.start + self.slope * size
    }
}

/// The line of least squares with weights of one over the squared time: a per cent counts as much
/// for a short time as for a long one. None without two different sizes.
pub fn fit_line(points: &[(f64, f64)]) -> Option<Line> {
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let weight = 1.0 / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let determinant = w * wxx - wx * wx;
    if !determinant.is_normal() {
        return None;
    }
    let slope = (w * wxy - wx * wy) / determinant;
    Some(Line { start: (wy - slope * wx) / w, slope })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_noise_is_found() {
        let points = [512.0, 4096.0, 65_536.0, 1_048_576.0].map(|x| (x, 120.0 + 0.05 * x));
        let line = fit_line(&points).unwrap();
        assert!((line.start - 120.0).abs() < 1e-6 && (line.slope - 0.05).abs() < 1e-9, "{line:?}");
        assert!((line.at(1000.0) - 170.0).abs() < 1e-6);
        assert_eq!(fit_line(&points[..1]), None);
    }

    /// The excluded cached reads of appvirt-files in docs/PUBLISHED.md: 0.553 s for 250 MiB and
    /// 29.8 us for each call.
    #[test]
    fn the_hidden_signal_of_a_published_table_is_found() {
        let bytes = 262_144_000.0;
        let rows = [(4096.0, 2.465), (32_768.0, 0.755), (524_288.0, 0.565), (1_048_576.0, 0.595)];
        let per_call = rows.map(|(size, seconds)| (size, seconds / (bytes / size)));
        let line = fit_line(&per_call).unwrap();
        assert!((line.start * 1e6 - 29.8).abs() < 1.0, "{line:?}");
        assert!((line.slope * bytes - 0.553).abs() < 0.03, "{line:?}");
    }
}
