/**
 * The number of positions on one line.
 *
 * Items are stored on lines, at positions that count from the beginning of a conversation. A response that
 * continues from the end of a line appends its items there. A response that continues from an earlier position
 * starts a new line, and shares the items before that position. So a conversation is read from one line or a
 * few, and no item is stored twice.
 *
 * Line and position are combined in one number, `at`, which is the primary key: a long conversation is one
 * range of a table without an index. The numbers suffice for more items than fit in memory, on millions of
 * lines.
 */
export const POSITIONS_PER_LINE = 2 ** 27;

const LINES = `
  CREATE TABLE response_items (
    at INTEGER PRIMARY KEY,
    id TEXT,
    item TEXT NOT NULL
  ) STRICT;
  CREATE INDEX response_items_by_id ON response_items (id) WHERE id IS NOT NULL;
  CREATE TABLE response_forks (
    line INTEGER PRIMARY KEY,
    parent INTEGER NOT NULL,
    start INTEGER NOT NULL -- its first position
  ) STRICT;
  CREATE INDEX response_forks_of ON response_forks (parent, start);
  CREATE TABLE responses (
    end_at INTEGER PRIMARY KEY, -- the position after its last item
    id TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    first_place INTEGER NOT NULL, -- where its conversation starts
    output_place INTEGER NOT NULL,
    next_first_place INTEGER NOT NULL, -- where conversations that continue from it start: the last compaction in its output
    include TEXT, -- optional fields its output shows; NULL if the response contains the output
    response TEXT NOT NULL
  ) STRICT`;

/** Migrates from the version that stored each response's whole conversation: each response gets its own line. */
const FROM_WHOLE_CONVERSATIONS = `
  INSERT INTO response_items (at, id, item)
    SELECT whole.rowid * ${POSITIONS_PER_LINE} + item.key,
      iif(json_type(item.value, '$.id') = 'text', item.value ->> '$.id', NULL), item.value
    FROM whole_conversations AS whole, json_each(whole.items) AS item;
  WITH counted AS (
    SELECT rowid AS line, *, json_array_length(items) AS length,
      json_array_length(items) - json_array_length(response, '$.output') AS output_place
    FROM whole_conversations
  )
  INSERT INTO responses (end_at, id, created_at, first_place, output_place, next_first_place, response)
    SELECT line * ${POSITIONS_PER_LINE} + length, id, created_at, 0, output_place,
      (SELECT coalesce(max(item.key), 0) FROM json_each(items) AS item
       WHERE item.key >= output_place AND item.value ->> '$.type' = 'compaction'),
      response
    FROM counted`;

/** The migration steps of the tables. Append-only. */
export const responseTables: readonly string[] = [
  `CREATE TABLE responses (
     id TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL,
     response TEXT NOT NULL,
     items TEXT NOT NULL,
     stored INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE response_items (
     id TEXT PRIMARY KEY,
     response_id TEXT NOT NULL REFERENCES responses (id) ON DELETE CASCADE
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX response_items_of ON response_items (response_id)`,
  `DROP TABLE response_items;
   ALTER TABLE responses RENAME TO whole_conversations;
   DELETE FROM whole_conversations WHERE NOT (stored AND json_valid(response) AND json_valid(items));
   ${LINES};
   ${FROM_WHOLE_CONVERSATIONS};
   DROP TABLE whole_conversations`,
  `ALTER TABLE responses ADD COLUMN replay TEXT; -- what its stream showed and the response does not; NULL if nothing
   CREATE TABLE running_responses (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`,
];
