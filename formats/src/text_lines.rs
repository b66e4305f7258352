//! The lines of a text, with numbers, with any line ending.

use std::io::BufRead;

/// How often progress is reported.
const PROGRESS_BYTES: usize = 1 << 20;

/// Blank lines are counted and skipped. A byte order mark at the beginning belongs to no line.
pub fn for_each_line<'t, E>(
    text: &'t [u8],
    progress: &mut dyn FnMut(u64),
    mut each: impl FnMut(u64, &'t [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut number, mut told) = (0, 0);
    let mut rest = without_mark(text);
    while !rest.is_empty() {
        let from = rest;
        let length = rest.skip_until(b'\n').expect("memory can be read");
        let line = from[..length].trim_ascii_end();
        number += 1;
        if !line.is_empty() {
            each(number, line)?;
        }
        let done = text.len() - rest.len();
        if done - told >= PROGRESS_BYTES {
            told = done;
            progress(done as u64);
        }
    }
    progress(text.len() as u64);
    Ok(())
}

pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_across_blank_ones() {
        let mut seen = Vec::new();
        let mut done = 0;
        let text = "\u{feff}一\r\n\n \t\nfour".as_bytes();
        for_each_line(text, &mut |bytes| done = bytes, |number, line| {
            seen.push((number, std::str::from_utf8(line).unwrap()));
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(seen, [(1, "一"), (4, "four")]);
        assert_eq!(done, text.len() as u64);
    }

    #[test]
    fn progress_is_told_on_the_way() {
        let mut told = Vec::new();
        for_each_line(&b"x\n".repeat(PROGRESS_BYTES), &mut |bytes| told.push(bytes), |_, _| Ok::<_, ()>(())).unwrap();
        assert_eq!(told, [1 << 20, 2 << 20, 2 << 20]);
    }
}
