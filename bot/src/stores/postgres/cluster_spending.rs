//! What all rooms of a cluster spend together, added up in the commit that records what each of them did.
//!
//! Transactions of all processes run one after the other (`pg_advisory_xact_lock` of the writer), so what is read here holds until the
//! commit. A room states what it has spent in absolute figures: an attempt that runs again changes nothing.

use aizuchi_core::room::Cost;
use aizuchi_core::total::check_total;
use aizuchi_core::types::RoomId;
use aizuchi_core::usage::TotalSpent;
use tokio_postgres::Row;

use super::connection::PgConnection;
use super::error::PgResult;
use super::text::to_stored;
use crate::ports::{RoomSpending, TotalLimit};

/// More than anybody spends; the sum of all rooms stays within 64 bits.
const MOST: u64 = 1 << 44;

const BOOK: &str = "WITH given AS (
        SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS given (day, calls, tokens, micros)
    ), before AS (
        SELECT day, calls, tokens, micros FROM cluster_spent WHERE room = $1
    ), dropped AS (
        DELETE FROM cluster_spent WHERE room = $1 AND day <> ALL ($2::bigint[])
    ), kept AS (
        INSERT INTO cluster_spent (room, day, calls, tokens, micros) SELECT $1, day, calls, tokens, micros FROM given
        ON CONFLICT (room, day) DO UPDATE
            SET calls = excluded.calls, tokens = excluded.tokens, micros = excluded.micros
    )
    INSERT INTO cluster_spent_total AS total (day, calls, tokens, micros)
        SELECT day, coalesce(given.calls, 0) - coalesce(before.calls, 0),
            coalesce(given.tokens, 0) - coalesce(before.tokens, 0),
            coalesce(given.micros, 0) - coalesce(before.micros, 0)
        FROM given FULL JOIN before USING (day)
    ON CONFLICT (day) DO UPDATE SET calls = total.calls + excluded.calls,
        tokens = total.tokens + excluded.tokens, micros = total.micros + excluded.micros";

/// Notes what a room has spent so far, and which of its calls are over.
pub fn book(connection: &PgConnection, room: &RoomId, spending: &RoomSpending) -> PgResult<()> {
    let room = to_stored(room.as_str());
    let days: Vec<i64> = spending.days.iter().map(|(day, _)| *day).collect();
    let column =
        |of: fn(&Cost) -> u64| -> Vec<i64> { spending.days.iter().map(|(_, cost)| stored(of(cost))).collect() };
    let (calls, tokens, micros) = (column(|cost| cost.calls), column(|cost| cost.tokens), column(|cost| cost.micros));
    connection.execute(BOOK, &[&room, &days, &calls, &tokens, &micros])?;
    let in_flight: Vec<i64> = spending.in_flight.iter().map(|serial| serial.cast_signed()).collect();
    let delete = "DELETE FROM cluster_in_flight WHERE room = $1 AND serial <> ALL ($2)";
    connection.execute(delete, &[&room, &in_flight]).map(drop)
}

/// Reserves what the budget allows until it is booked, and returns what it does not allow.
pub fn admit(
    connection: &PgConnection,
    room: &RoomId,
    wanted: &[(u64, Cost)],
    TotalLimit { today, limit }: TotalLimit,
) -> PgResult<Vec<(u64, TotalSpent)>> {
    if limit.is_zero() || wanted.is_empty() {
        return Ok(Vec::new());
    }
    let room = to_stored(room.as_str());
    let serials: Vec<i64> = wanted.iter().map(|(serial, _)| serial.cast_signed()).collect();
    // An attempt before this one may have reserved them.
    connection.execute("DELETE FROM cluster_in_flight WHERE room = $1 AND serial = ANY ($2)", &[&room, &serials])?;
    let spent = "SELECT calls, tokens, micros FROM cluster_spent_total WHERE day = $1";
    let spent = connection.first(spent, &[&today])?.map_or(Cost::default(), |row| cost_at(&row, 0));
    let in_flight = "SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(tokens), 0)::bigint,
        coalesce(sum(micros), 0)::bigint FROM cluster_in_flight";
    let mut in_flight = cost_at(&connection.one(in_flight, &[])?, 0);
    let insert = "INSERT INTO cluster_in_flight (room, serial, calls, tokens, micros) VALUES ($1, $2, $3, $4, $5)";
    let mut refused = Vec::new();
    for (serial, cost) in wanted {
        if let Err(why) = check_total(spent, in_flight, *cost, limit) {
            refused.push((*serial, why));
            continue;
        }
        in_flight += *cost;
        let (calls, tokens, micros) = (stored(cost.calls), stored(cost.tokens), stored(cost.micros));
        connection.execute(insert, &[&room, &serial.cast_signed(), &calls, &tokens, &micros])?;
    }
    Ok(refused)
}

/// What all rooms spent together, by day.
pub fn by_day(connection: &PgConnection) -> PgResult<Vec<(i64, Cost)>> {
    // Nobody looks at days that no room keeps any more.
    let query = "SELECT day, calls, tokens, micros FROM cluster_spent_total ORDER BY day DESC LIMIT 8";
    Ok(connection.query(query, &[])?.iter().map(|row| (row.get(0), cost_at(row, 1))).collect())
}

fn stored(amount: u64) -> i64 {
    amount.min(MOST).cast_signed()
}

/// Three columns, from this one.
fn cost_at(row: &Row, first: usize) -> Cost {
    let amount = |index: usize| row.get::<_, i64>(first + index).max(0).cast_unsigned();
    Cost { calls: amount(0), tokens: amount(1), micros: amount(2) }
}
