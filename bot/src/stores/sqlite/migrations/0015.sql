-- Where a fact may be read, in few bytes: a search for a rare word looks here for each fact that has it, which is faster than
-- going through the index's list of a place.
CREATE TABLE memory_fact_place (
    fact INTEGER PRIMARY KEY,
    room TEXT NOT NULL,
    house TEXT NOT NULL
);
INSERT INTO memory_fact_place (fact, room, house)
    SELECT rowid, substr(place, 1, instr(place || ' ', ' ') - 1), substr(place, instr(place || ' ', ' ') + 1) FROM memory_index;
