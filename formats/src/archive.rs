//! A folder or a zip as a list of files, with limits on what unpacking may cost.

use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::error::ReadError;

/// How deep nested folders are read: an export has two levels.
const DEPTH_MAX: usize = 6;

#[derive(Clone, Copy)]
pub struct Limits {
    pub file_bytes: u64,
    pub total_bytes: u64,
}

pub const LIMITS: Limits = Limits { file_bytes: 512 << 20, total_bytes: 4 << 30 };

pub struct Archive<'b> {
    pub name: String,
    /// Paths with `/`, in order.
    pub files: Vec<String>,
    /// Bytes unpacked so far.
    pub unpacked: u64,
    limits: Limits,
    content: Content<'b>,
}

enum Content<'b> {
    Folder(PathBuf),
    Zip(Box<ZipArchive<Cursor<&'b [u8]>>>),
}

impl<'b> Archive<'b> {
    pub fn folder(path: &str) -> Result<Archive<'static>, ReadError> {
        let mut files = Vec::new();
        list(Path::new(path), "", DEPTH_MAX, &mut files)
            .map_err(ReadError::unreadable(format!("cannot list {path}")))?;
        files.sort_unstable();
        let content = Content::Folder(path.into());
        Ok(Archive { name: path.to_owned(), files, unpacked: 0, limits: LIMITS, content })
    }

    pub fn zip(name: &str, bytes: &'b [u8], limits: Limits) -> Result<Archive<'b>, ReadError> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(ReadError::unreadable(format!("{name} is a damaged zip file")))?;
        let mut files: Vec<String> = zip.file_names().filter_map(Result::ok).map(Into::into).collect();
        files.retain(|file| is_readable(file));
        files.sort_unstable();
        Ok(Archive { name: name.to_owned(), files, unpacked: 0, limits, content: Content::Zip(Box::new(zip)) })
    }

    /// The declared unpacked size, as far as it is known beforehand.
    pub fn told_bytes(&self) -> Option<u64> {
        match &self.content {
            Content::Folder(_) => None,
            Content::Zip(zip) => zip.decompressed_size().and_then(|bytes| bytes.try_into().ok()),
        }
    }

    /// The whole content of one file.
    pub fn read(&mut self, file: &str) -> Result<Vec<u8>, ReadError> {
        let whole = match &mut self.content {
            Content::Folder(root) => {
                let path = root.join(file);
                File::open(&path).and_then(|open| up_to(open, self.limits.file_bytes))
            }
            Content::Zip(zip) => {
                let packed = zip
                    .by_name(file)
                    .map_err(ReadError::unreadable(format!("cannot unpack {file} in {}", self.name)))?;
                if packed.size() > self.limits.file_bytes { Ok(None) } else { up_to(packed, self.limits.file_bytes) }
            }
        };
        let whole = whole.map_err(ReadError::unreadable(format!("cannot read {file} in {}", self.name)))?;
        let Some(bytes) = whole else {
            return Err(ReadError::too_large(format!("{file} in {}", self.name), self.limits.file_bytes));
        };
        self.unpacked += bytes.len() as u64;
        if self.unpacked > self.limits.total_bytes {
            return Err(ReadError::too_large_unpacked(&self.name, self.limits.total_bytes));
        }
        Ok(bytes)
    }
}

/// Whether a name fits on one line of a message; no export has others.
fn is_readable(name: &str) -> bool {
    !name.contains(char::is_control)
}

/// Reads everything, or returns `None` if it is more than that.
pub fn up_to(reader: impl Read, bytes_max: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= bytes_max))
}

/// Links are not followed, since they may form cycles.
fn list(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(name) = entry.file_name().into_string().ok().filter(|name| is_readable(name)) else { continue };
        let kind = entry.file_type()?;
        if kind.is_file() {
            files.push(format!("{prefix}{name}"));
        } else if kind.is_dir() && depth > 0 {
            list(&entry.path(), &format!("{prefix}{name}/"), depth - 1, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub mod testing {
    //! Exports made up on the spot.

    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    /// A folder that is removed when the test is over.
    pub struct Scratch(pub PathBuf);

    impl Scratch {
        pub fn new(test: &str, files: &[(&str, &str)]) -> Scratch {
            let root = std::env::temp_dir().join(format!("aizuchi-{test}-{}", std::process::id()));
            fs::create_dir_all(&root).unwrap();
            for (name, text) in files {
                let path = root.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Scratch(root)
        }

        pub fn path(&self) -> &str {
            self.0.to_str().unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    pub fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Scratch, zipped};
    use super::*;

    const FILES: [(&str, &str); 3] = [("雑談/2024-01-02.json", "二"), ("雑談/2024-01-01.json", "一"), ("a.json", "[]")];

    #[test]
    fn a_folder_and_its_zip_hold_the_same_files() {
        let scratch = Scratch::new("same-files", &FILES);
        let bytes = zipped(&FILES);
        for mut archive in [Archive::folder(scratch.path()).unwrap(), Archive::zip("x.zip", &bytes, LIMITS).unwrap()] {
            assert_eq!(archive.files, ["a.json", "雑談/2024-01-01.json", "雑談/2024-01-02.json"]);
            assert_eq!(archive.read("雑談/2024-01-02.json").unwrap(), "二".as_bytes());
            assert_eq!(archive.unpacked, 3);
            assert!(archive.read("b.json").is_err());
        }
    }

    #[test]
    fn a_zip_that_unpacks_to_too_much_is_refused() {
        let big = "x".repeat(3 << 20);
        let bytes = zipped(&[("big", &big), ("small", "xx")]);
        let limits = |file_mb: u64, total_mb: u64| Limits { file_bytes: file_mb << 20, total_bytes: total_mb << 20 };
        let mut archive = Archive::zip("bomb.zip", &bytes, limits(2, 9)).unwrap();
        assert_eq!(archive.read("big").unwrap_err().to_string(), "big in bomb.zip is larger than 2 MB");
        assert!(archive.read("small").is_ok());
        let mut archive = Archive::zip("bomb.zip", &bytes, limits(4, 5)).unwrap();
        assert!(archive.read("big").is_ok());
        assert_eq!(archive.read("big").unwrap_err().to_string(), "bomb.zip is larger than 5 MB unpacked");
    }

    #[test]
    fn a_size_that_is_told_wrong_does_not_get_around_the_bound() {
        assert_eq!(up_to(&b"four"[..], 4).unwrap().unwrap(), b"four");
        assert!(up_to(&b"fives"[..], 4).unwrap().is_none());
    }

    #[test]
    fn a_name_over_two_lines_is_passed_over() {
        let bytes = zipped(&[("a\nb/2024-01-01.json", "[]"), ("c.json", "[]")]);
        let archive = Archive::zip("x.zip", &bytes, LIMITS).unwrap();
        assert_eq!(archive.files, ["c.json"]);
        assert_eq!(archive.told_bytes(), Some(4));
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let scratch = Scratch::new("links", &[("a/x", "1")]);
        std::os::unix::fs::symlink(&scratch.0, scratch.0.join("a/again")).unwrap();
        assert_eq!(Archive::folder(scratch.path()).unwrap().files, ["a/x"]);
    }
}
