/**
 * Items stand on lines, in places that count from the beginning of a conversation. A response that goes
 * on from the end of a line writes what it adds there; one that goes on from within it begins a line of
 * its own, and shares what comes before its first place. So a conversation is read off one line or few,
 * and no item is written twice.
 *
 * Line and place are one number, `at`, by which the tables are sorted: a long conversation is one stretch
 * of a table, and needs no index. That is room for more items than memory has, on millions of lines.
 */
export const PLACES_PER_LINE = 2 ** 27;

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
    start INTEGER NOT NULL -- its first place
  ) STRICT;
  CREATE INDEX response_forks_of ON response_forks (parent, start);
  CREATE TABLE responses (
    end_at INTEGER PRIMARY KEY, -- after its last item
    id TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    first_place INTEGER NOT NULL, -- of its conversation
    output_place INTEGER NOT NULL,
    next_first_place INTEGER NOT NULL, -- of what goes on from it: the last compaction in its output
    include TEXT, -- what its output shows; NULL if that is within the response
    response TEXT NOT NULL
  ) STRICT`;

/** Each response had its whole conversation: it gets a line of its own. */
const FROM_WHOLE_CONVERSATIONS = `
  INSERT INTO response_items (at, id, item)
    SELECT whole.rowid * ${PLACES_PER_LINE} + item.key,
      iif(json_type(item.value, '$.id') = 'text', item.value ->> '$.id', NULL), item.value
    FROM whole_conversations AS whole, json_each(whole.items) AS item;
  WITH counted AS (
    SELECT rowid AS line, *, json_array_length(items) AS length,
      json_array_length(items) - json_array_length(response, '$.output') AS output_place
    FROM whole_conversations
  )
  INSERT INTO responses (end_at, id, created_at, first_place, output_place, next_first_place, response)
    SELECT line * ${PLACES_PER_LINE} + length, id, created_at, 0, output_place,
      (SELECT coalesce(max(item.key), 0) FROM json_each(items) AS item
       WHERE item.key >= output_place AND item.value ->> '$.type' = 'compaction'),
      response
    FROM counted`;

/** How the tables came about; only ever added to. */
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
];
