/**
 * Creates the tables of the contents of workspace files, in the schema `wink`. They need the table `wink.session`.
 *
 * A content counts as stored once `blob.stored_at` is set, after all its chunks. `kept` lists the contents that a session
 * has ever named; its rows are deleted with the session. A content is an orphan if no session names it.
 */
export const BLOB_TABLES = `create table wink.blob (
        sha256 bytea primary key,
        bytes bigint not null,
        stored_at timestamptz,
        used_at timestamptz not null default now()
      );
      create index blob_used_at on wink.blob (used_at);
      create table wink.blob_chunk (
        sha256 bytea not null references wink.blob on delete cascade,
        n int not null,
        bytes bytea not null,
        primary key (sha256, n)
      );
      create table wink.kept (
        session_key bigint not null references wink.session (key) on delete cascade,
        sha256 bytea not null references wink.blob,
        primary key (session_key, sha256)
      );
      create index kept_sha256 on wink.kept (sha256);`;

/** The statements on the tables of contents. */
export type BlobStatements = ReturnType<typeof createBlobStatements>;

/**
 * Returns the statements for the tables of one schema, each a separate transaction. `schema` is a quoted identifier.
 * Every statement that names a content for a session leaves it with a `used_at` of the last day: the row is changed
 * then, so that a concurrent `deleteOrphans` finds either no row, or a row that is too new.
 */
export function createBlobStatements(schema: string) {
  const [blob, chunk, kept] = [`${schema}.blob`, `${schema}.blob_chunk`, `${schema}.kept`];
  const digest = "decode($2, 'hex')";
  const keep = (source: string) =>
    `insert into ${kept} (session_key, sha256)
      select key, sha256 from ${schema}.session, ${source} where id = $1 on conflict do nothing`;
  const upsert = (storedAt: string) =>
    `insert into ${blob} (sha256, bytes, stored_at) values (${digest}, $3, ${storedAt})
      on conflict (sha256) do update set used_at = now(), stored_at = coalesce(blob.stored_at, excluded.stored_at)
      returning sha256`;
  const insertChunk = (source: string) =>
    `insert into ${chunk} (sha256, n, bytes) ${source} on conflict do nothing`;
  return {
    /** Parameters: session id, digest. */
    has: `with touched as (
        update ${blob} set used_at = now()
        where sha256 = ${digest} and stored_at is not null and used_at < now() - interval '1 day' returning sha256
      ), found as (
        select sha256 from touched union
        select sha256 from ${blob}
        where sha256 = ${digest} and stored_at is not null and used_at >= now() - interval '1 day'
      ), kept as (${keep("found")})
      select 1 from found`,

    /** Stores a content of one chunk. Parameters: session id, digest, size, bytes. */
    putSmall: `with stored as (${upsert("now()")}), kept as (${keep("stored")})
      ${insertChunk("select sha256, 0, $4::bytea from stored")}`,

    /** Parameters: session id, digest, size. */
    begin: `with begun as (${upsert("null")}) ${keep("begun")}`,

    /** Parameters: digest, number of the chunk, bytes. */
    addChunk: insertChunk("values (decode($1, 'hex'), $2, $3::bytea)"),

    /** Parameters: digest. */
    finish: `update ${blob} set stored_at = coalesce(stored_at, now()) where sha256 = decode($1, 'hex')`,

    /** Parameters: digest, number of the first chunk, maximum number of chunks. */
    get: `select b.bytes as size, c.bytes as chunk from ${blob} b join ${chunk} c using (sha256)
      where sha256 = decode($1, 'hex') and stored_at is not null and n >= $2 order by n limit $3`,

    /** Parameters: session id. */
    release: `delete from ${kept} using ${schema}.session where key = session_key and id = $1`,

    /** Parameters: days, maximum number. The outer condition is checked again on a row that has just changed. */
    deleteOrphans: `delete from ${blob} where used_at < now() - $1 * interval '1 day' and sha256 in (
        select sha256 from ${blob} b where used_at < now() - $1 * interval '1 day'
          and not exists (select from ${kept} k where k.sha256 = b.sha256) order by used_at limit $2
      ) returning 1`,
  };
}
