/**
 * The migration steps of the table of conversations. Append-only.
 *
 * A conversation with an id is the end of a line (see `response-tables.ts`). Each turn and each added item moves
 * the end. Removing an item starts a new line, so that stored responses keep their input.
 */
export const conversationTables: readonly string[] = [
  `CREATE TABLE conversations (
     id TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL,
     metadata TEXT NOT NULL,
     line INTEGER NOT NULL UNIQUE,
     first_place INTEGER NOT NULL, -- where the model starts to read: the last compaction in an output
     end_place INTEGER NOT NULL, -- the position after the last item
     deleted INTEGER NOT NULL DEFAULT 0 -- like OpenAI, deleting a conversation keeps its items
   ) STRICT`,
];
