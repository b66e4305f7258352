//! A histogram of how likely messages are in a room: fine-grained where values are small, as most are.

pub const STEPS: usize = 32;

/// Where one step ends and the next begins.
pub const EDGES: [f32; STEPS - 1] = [
    0.002, 0.004, 0.006, 0.009, 0.012, 0.016, 0.020, 0.025, 0.030, 0.036, 0.043, 0.051, 0.060, 0.070, 0.082, 0.096,
    0.112, 0.131, 0.153, 0.178, 0.206, 0.238, 0.274, 0.314, 0.358, 0.406, 0.458, 0.514, 0.575, 0.65, 0.75,
];

pub fn step_of(likely: f32) -> usize {
    EDGES.partition_point(|edge| *edge <= likely)
}

/// Of a thousand messages, how many are how likely.
pub fn per_thousand(likely: impl Iterator<Item = f32>) -> [f32; STEPS] {
    let mut counts = [0.0; STEPS];
    likely.for_each(|likely| counts[step_of(likely)] += 1.0);
    let all: f32 = counts.iter().sum();
    counts.map(|count| count * 1000.0 / all.max(1.0))
}

/// Parses such counts: one number per step.
pub fn parse(text: &str) -> Result<[f32; STEPS], String> {
    let numbers: Vec<f32> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("not {STEPS} numbers"))
}

pub fn write(counts: &[f32; STEPS]) -> String {
    counts.map(|count| format!("{count:.1}\n")).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_a_text_and_come_back() {
        let counts = per_thousand([0.001, 0.03, 0.03, 0.9].into_iter());
        assert_eq!((counts[0], counts[9], counts[STEPS - 1]), (250.0, 500.0, 250.0));
        assert_eq!(parse(&write(&counts)), Ok(counts));
        assert!(parse("1 2 3").is_err());
    }
}
