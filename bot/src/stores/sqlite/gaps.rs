//! Zeroes what SQLite leaves in the unallocated space of its pages.
//!
//! `secure_delete` overwrites a row where it is deleted, and a page when it is freed. But SQLite moves rows between pages as they
//! fill, and may leave what it moved in the gap of the page it came from: a row that is deleted later is still there. `VACUUM`
//! writes the whole file anew, which removes that too. Here all pages are read, and only those with something in a gap are
//! written.
//!
//! Pages are read and written through the table `sqlite_dbpage` within one transaction. Only bytes that SQLite never reads are
//! changed. What a page is used for is in the pointer map, which a file with `auto_vacuum` has
//! (<https://www.sqlite.org/fileformat2.html>). Overflow pages are left out: SQLite zeroes them when it frees and when it
//! allocates them.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The maximum number of free pages returned to the file system at once, since moving them takes time.
const GIVEN_BACK: usize = 10_000;
/// SQLite locks bytes at this offset of the file, so the page there is never used.
const LOCK_OFFSET: usize = 0x4000_0000;
/// The first page begins with the file header, which has the number of reserved bytes in a page and the first free page.
const FILE_HEADER: usize = 100;
const RESERVED: usize = 20;
const FIRST_FREE: usize = 32;
/// An entry of the pointer map: what a page is used for, and which page refers to it.
const MAP_ENTRY: usize = 5;
const FREE: u8 = 2;
const OVERFLOW: [u8; 2] = [3, 4];
const PAGE_MAX: usize = 1 << 16;
static ZEROS: [u8; PAGE_MAX] = [0; PAGE_MAX];

/// Zeroes the gaps of all pages. `false` if that is not possible: SQLite was built without `sqlite_dbpage`, the file has no
/// pointer map, or something in it does not match the format. Then nothing is changed.
pub fn zero_gaps(connection: &Connection) -> rusqlite::Result<bool> {
    let has_pages = "SELECT count(*) FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
    let has_pages = connection.query_row(has_pages, [], |row| row.get::<_, i64>(0))? > 0;
    let has_map = connection.pragma_query_value(None, "auto_vacuum", |row| row.get::<_, i64>(0))? > 0;
    if !has_pages || !has_map {
        return Ok(false);
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    give_back(&transaction, GIVEN_BACK)?;
    let done = Pages::new(&transaction)?.zero_gaps()?;
    if done {
        transaction.commit()?
    } else {
        transaction.rollback()?
    }
    Ok(done)
}

/// Returns free pages to the file system, at most this many. Each is a row of the result, which has to be read to its end.
pub fn give_back(transaction: &Transaction<'_>, pages: usize) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

struct Pages<'a> {
    transaction: &'a Transaction<'a>,
    count: usize,
    size: usize,
    /// Bytes of a page that are not reserved.
    usable: usize,
    first_free: usize,
}

impl<'a> Pages<'a> {
    fn new(transaction: &'a Transaction<'a>) -> rusqlite::Result<Pages<'a>> {
        let number =
            |pragma: &str| transaction.pragma_query_value(None, pragma, |row| Ok(row.get::<_, u32>(0)? as usize));
        let (count, size) = (number("page_count")?, number("page_size")?);
        let mut pages = Pages { transaction, count, size, usable: size, first_free: 0 };
        let mut first = Vec::new();
        pages.read(1, &mut first)?;
        pages.usable -= usize::from(first[RESERVED]);
        pages.first_free = page_number(&first[FIRST_FREE..]);
        Ok(pages)
    }

    fn read(&self, number: usize, page: &mut Vec<u8>) -> rusqlite::Result<()> {
        let mut read = self.transaction.prepare_cached("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
        read.query_row([number as i64], |row| {
            page.clear();
            page.extend_from_slice(row.get_ref(0)?.as_blob()?);
            Ok(())
        })
    }

    fn write(&self, number: usize, page: &[u8]) -> rusqlite::Result<()> {
        let mut write = self.transaction.prepare_cached("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1")?;
        write.execute((number as i64, page)).map(drop)
    }

    fn zero_gaps(&self) -> rusqlite::Result<bool> {
        let Some(trunks) = self.free_trunks()? else { return Ok(false) };
        let (mut page, mut map) = (Vec::new(), Vec::new());
        for number in 1..=self.count {
            let map_number = self.map_of(number);
            if number == map_number {
                self.read(number, &mut map)?;
            }
            if number == map_number || number == self.lock_page() {
                continue;
            }
            let used_for = if number == 1 { 0 } else { map[MAP_ENTRY * (number - map_number - 1)] };
            if OVERFLOW.contains(&used_for) {
                continue;
            }
            self.read(number, &mut page)?;
            let zeroed = match used_for {
                FREE if trunks.contains(&number) => zero_after_numbers(&mut page[..self.usable]),
                FREE => Some(zero(&mut page)),
                _ if number == 1 => zero_unallocated(&mut page[..self.usable], FILE_HEADER),
                _ => zero_unallocated(&mut page[..self.usable], 0),
            };
            match zeroed {
                Some(true) => self.write(number, &page)?,
                Some(false) => (),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The page that maps this one, or this one itself if it is a map.
    fn map_of(&self, number: usize) -> usize {
        let Some(after_first) = number.checked_sub(2) else { return 0 };
        let together = self.usable / MAP_ENTRY + 1;
        let map = after_first / together * together + 2;
        if map == self.lock_page() { map + 1 } else { map }
    }

    fn lock_page(&self) -> usize {
        LOCK_OFFSET / self.size + 1
    }

    /// The free pages that contain the numbers of others.
    fn free_trunks(&self) -> rusqlite::Result<Option<BTreeSet<usize>>> {
        let (mut trunks, mut page, mut next) = (BTreeSet::new(), Vec::new(), self.first_free);
        while next != 0 {
            if next > self.count || !trunks.insert(next) {
                return Ok(None);
            }
            self.read(next, &mut page)?;
            next = page_number(&page);
        }
        Ok(Some(trunks))
    }
}

/// Zeroes what is neither header nor row of a b-tree page: the gap between both, and freeblocks among the rows. Returns
/// whether anything was there; `None` if this is no such page.
fn zero_unallocated(page: &mut [u8], header: usize) -> Option<bool> {
    let pointers = match page[header] {
        2 | 5 => header + 12,
        10 | 13 => header + 8,
        _ => return None,
    };
    let (mut block, rows) = (offset(page, header + 1), offset(page, header + 3));
    let content = match offset(page, header + 5) {
        0 => PAGE_MAX,
        content => content,
    };
    let mut zeroed = zero(page.get_mut(pointers + 2 * rows..content)?);
    let mut after = content;
    while block != 0 {
        // Each begins with the offset of the next and its own size.
        if block < after || block + 4 > page.len() {
            return None;
        }
        let (next, end) = (offset(page, block), block + offset(page, block + 2));
        zeroed |= zero(page.get_mut(block + 4..end)?);
        (block, after) = (next, end);
    }
    Some(zeroed)
}

/// Zeroes what follows the page numbers in a trunk page of the freelist: the number of the next trunk, the count, and the
/// numbers.
fn zero_after_numbers(page: &mut [u8]) -> Option<bool> {
    let numbers = page_number(&page[4..]);
    page.get_mut(8 + 4 * numbers..).map(zero)
}

/// Whether anything else was there.
fn zero(bytes: &mut [u8]) -> bool {
    let was_zero = *bytes == ZEROS[..bytes.len()];
    if !was_zero {
        bytes.fill(0);
    }
    !was_zero
}

fn offset(page: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([page[at], page[at + 1]]))
}

fn page_number(bytes: &[u8]) -> usize {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use aizuchi_core::types::stable_hash;
    use aizuchi_test_servers::folder::Scratch;
    use proptest::prelude::*;
    use rusqlite::params;

    use super::*;

    const SECRET: usize = "qz000000zq".len();

    /// What nothing else holds. It begins in many ways, so that an index keeps it whole and rows come in no order.
    fn secret(number: u32) -> String {
        format!("{:08x}qz{number:06}zq", stable_hash(3, &number.to_string()) as u32)
    }

    /// Tables of every kind that the store has.
    fn open(path: &Path, page_size: u32) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "page_size", page_size).unwrap();
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.pragma_update(None, "secure_delete", true).unwrap();
        connection.pragma_update(None, "synchronous", "OFF").unwrap();
        let tables = "CREATE TABLE plain (id INTEGER PRIMARY KEY, name TEXT, body TEXT);
            CREATE INDEX plain_name ON plain (name, body);
            CREATE TABLE keyed (name TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID;
            CREATE VIRTUAL TABLE words USING fts5 (text);
            INSERT INTO words (words, rank) VALUES ('secure-delete', 1);";
        connection.execute_batch(tables).unwrap();
        connection
    }

    fn add(connection: &Connection, number: u32, length: usize) {
        let (name, body) = (secret(number), secret(number).repeat(length));
        for (table, values) in [("plain (id, name, body)", "?1, ?2, ?3"), ("keyed (name, body)", "?2, ?3")] {
            let insert = format!("INSERT OR REPLACE INTO {table} SELECT {values} FROM (SELECT ?1, ?2, ?3)");
            connection.prepare_cached(&insert).unwrap().execute(params![number, name, body]).unwrap();
        }
        let insert = "INSERT INTO words (rowid, text) VALUES (?1, ?2)";
        connection.prepare_cached(insert).unwrap().execute(params![number, format!("{name} word")]).unwrap();
    }

    fn remove(connection: &Connection, number: u32) {
        for delete in ["DELETE FROM plain WHERE id = ?1", "DELETE FROM words WHERE rowid = ?1"] {
            connection.prepare_cached(delete).unwrap().execute([number]).unwrap();
        }
        connection.prepare_cached("DELETE FROM keyed WHERE name = ?1").unwrap().execute([secret(number)]).unwrap();
    }

    fn grow(connection: &Connection, number: u32, length: usize) {
        let body = secret(number).repeat(length);
        connection.execute("UPDATE plain SET body = ?2 WHERE id = ?1", params![number, body]).unwrap();
        connection.execute("UPDATE keyed SET body = ?2 WHERE name = ?1", params![secret(number), body]).unwrap();
    }

    /// The numbers of the secrets in the files.
    fn in_files(connection: &Connection, path: &Path) -> BTreeSet<u32> {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let bytes = std::fs::read(path).unwrap();
        let is_secret = |part: &&[u8]| part.starts_with(b"qz") && part.ends_with(b"zq");
        let numbers = bytes.windows(SECRET).filter(is_secret).filter_map(|part| std::str::from_utf8(&part[2..8]).ok());
        numbers.filter_map(|number| number.parse().ok()).collect()
    }

    fn in_tables(connection: &Connection) -> Vec<(u32, String, String)> {
        let query = "SELECT id, plain.name, keyed.body FROM plain JOIN keyed ON keyed.name = plain.name
            AND keyed.body = plain.body JOIN words ON words.rowid = id AND words.text = plain.name || ' word' ORDER BY id";
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    fn complaints(connection: &Connection) -> String {
        connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap()
    }

    #[test]
    fn copies_of_deleted_rows_leave_the_file() {
        let folder = Scratch::new("gaps");
        let path = folder.join("file.db");
        let connection = open(&path, 4096);
        // Rows of many lengths that come in no order and change: pages are divided and filled again.
        (0..2_000).for_each(|number| add(&connection, number, number as usize % 7));
        (0..2_000).step_by(5).for_each(|number| grow(&connection, number, 30));
        (0..2_000).step_by(3).for_each(|number| remove(&connection, number));
        let deleted = |found: BTreeSet<u32>| found.into_iter().filter(|number| number % 3 == 0).count();
        assert!(deleted(in_files(&connection, &path)) > 0, "without copies this test says nothing");
        let before = in_tables(&connection);
        assert!(zero_gaps(&connection).unwrap());
        assert_eq!(deleted(in_files(&connection, &path)), 0);
        assert_eq!((in_tables(&connection), complaints(&connection)), (before, "ok".to_owned()));
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        let written = size(&path);
        (0..1_000).for_each(|number| remove(&connection, number));
        assert!(zero_gaps(&connection).unwrap());
        in_files(&connection, &path);
        assert!(size(&path) < written, "free pages are given back");
    }

    #[test]
    fn a_file_without_a_pointer_map_is_left_alone() {
        let folder = Scratch::new("gaps-without-map");
        let connection = Connection::open(folder.join("file.db")).unwrap();
        connection.execute_batch("CREATE TABLE plain (id INTEGER PRIMARY KEY)").unwrap();
        assert!(!zero_gaps(&connection).unwrap());
    }

    /// A step of a random life: rows are added, every so many of them removed or changed, and gaps zeroed.
    #[derive(Clone, Copy, Debug)]
    enum GapStep {
        Add { count: u32, length: usize },
        Remove { every: u32, after: u32 },
        Grow { every: u32, length: usize },
        Zero,
    }

    fn step() -> impl Strategy<Value = GapStep> {
        prop_oneof![
            4 => (1..300_u32, 0..60_usize).prop_map(|(count, length)| GapStep::Add { count, length }),
            3 => (1..9_u32, 0..9_u32).prop_map(|(every, after)| GapStep::Remove { every, after }),
            2 => (1..9_u32, 0..300_usize).prop_map(|(every, length)| GapStep::Grow { every, length }),
            1 => Just(GapStep::Zero),
        ]
    }

    /// Each writes a file of some megabytes.
    fn fewer_cases() -> ProptestConfig {
        let usual = ProptestConfig::default();
        ProptestConfig { cases: usual.cases / 8, failure_persistence: None, ..usual }
    }

    proptest! {
        #![proptest_config(fewer_cases())]
        #[test]
        fn whatever_was_deleted_is_gone_and_all_else_is_there(
            page_size in prop_oneof![Just(512_u32), Just(4096), Just(65_536)],
            steps in proptest::collection::vec(step(), 1..12),
        ) {
            let folder = Scratch::new("gaps-random");
            let path = folder.join("file.db");
            let connection = open(&path, page_size);
            let (mut kept, mut next) = (BTreeSet::new(), 0);
            for step in steps {
                match step {
                    GapStep::Add { count, length } => {
                        (next..next + count).for_each(|number| add(&connection, number, length));
                        kept.extend(next..next + count);
                        next += count;
                    }
                    GapStep::Remove { every, after } => {
                        let goes = |number: &u32| number % every == after % every;
                        kept.extract_if(.., goes).for_each(|number| remove(&connection, number));
                    }
                    GapStep::Grow { every, length } => {
                        kept.iter().step_by(every as usize).for_each(|number| grow(&connection, *number, length));
                    }
                    GapStep::Zero => prop_assert!(zero_gaps(&connection).unwrap()),
                }
            }
            let before = in_tables(&connection);
            prop_assert_eq!(before.iter().map(|row| row.0).collect::<BTreeSet<_>>(), kept.clone());
            prop_assert!(zero_gaps(&connection).unwrap());
            prop_assert_eq!(in_files(&connection, &path), kept);
            prop_assert_eq!((in_tables(&connection), complaints(&connection)), (before, "ok".to_owned()));
        }
    }
}
