/** The statements of a store. Each is a separate transaction, so any pool of connections can run them. */
export type Statements = ReturnType<typeof createStatements>;

/** Returns the statements for the tables of one schema. `schema` is a quoted identifier. */
export function createStatements(schema: string) {
  const session = `${schema}.session`;
  const nextFence = `nextval('${schema}.fence')`;
  const isFree = createFreeCondition("");
  const isCurrent = `case when $2::bigint is null then ${isFree} else fence = $2::bigint end`;
  const lease = (parameter: string) =>
    `clock_timestamp() + ${parameter}::int * interval '1 millisecond'`;
  const since = `to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since`;
  return {
    version: `select max(version) as version from ${schema}.migration`,

    /**
     * The update locks the row: a takeover waits for it, or has raised the fence before, and then nothing is stored.
     * Parameters: id, fence or null, position or null, milliseconds of the lease, texts.
     */
    append: `with s as (
        update ${session} set next = next + cardinality($5::text[]),
          lease_until = case when holder is null or $2::bigint is null then lease_until else ${lease("$4")} end
        where id = $1 and ${isCurrent} and ($3::int is null or next = $3::int)
        returning key, next
      )
      insert into ${schema}.record (session_key, n, record)
      select key, next - cardinality($5::text[]) + u.i - 1, u.r from s, unnest($5::text[]) with ordinality u(r, i)
      returning n`,

    create: `insert into ${session} (id) values ($1) on conflict do nothing`,

    find: `select key, next, fence, owner, holder, ${since}, not ${isFree} as held from ${session} where id = $1`,

    /** Parameters: key, from, to, limit of bytes. The first record is always returned. */
    readPage: `select record from (
        select n, record, sum(octet_length(record)) over (order by n) - octet_length(record) as before
        from (select n, record from ${schema}.record
          where session_key = $1 and n >= $2 and n < $3 order by n limit 1000) page
      ) sized where before < $4 order by n`,

    /** Parameters: the id before the first, limit. */
    list: `select id from ${session} where next > 0 and id > $1 order by id limit $2`,

    /** Parameters: id, fence of a holder that has ended, or null. */
    remove: `delete from ${session} where id = $1 and (${isFree} or fence = $2::bigint) returning id`,

    /** Parameters: id, owner, holder, milliseconds of the lease, fence of a holder that has ended, or null. */
    claim: `insert into ${session} as s (id, fence, owner, holder, since, lease_until)
      values ($1, ${nextFence}, $2, $3, clock_timestamp(), ${lease("$4")})
      on conflict (id) do update set fence = greatest(s.fence + 1, ${nextFence}), owner = excluded.owner,
        holder = excluded.holder, since = clock_timestamp(), lease_until = ${lease("$4")}
      where ${createFreeCondition("s.")} or s.fence = $5::bigint
      returning fence, next, ${since}`,

    /** Parameters: id, fence, milliseconds of the lease. */
    renew: `update ${session} set lease_until = ${lease("$3")}
      where id = $1 and fence = $2 and holder is not null returning id`,

    release: `with gone as (delete from ${session} where id = $1 and fence = $2 and next = 0)
      update ${session} set holder = null, lease_until = null where id = $1 and fence = $2 and next > 0`,

    readCheckpoint: `select checkpoint from ${schema}.checkpoint join ${session} on key = session_key where id = $1`,

    /** Parameters: id, fence or null, position or null, text. */
    writeCheckpoint: `insert into ${schema}.checkpoint (session_key, checkpoint)
      select key, $4 from ${session} where id = $1 and ${isCurrent} and next >= coalesce($3::int, 0) for share
      on conflict (session_key) do update set checkpoint = excluded.checkpoint returning session_key`,
  };
}

/** Whether a session is not held: a lease of more than a day was made before the clock was set back. */
function createFreeCondition(table: string): string {
  const until = `${table}lease_until`;
  const isOver = `${until} <= clock_timestamp() or ${until} > clock_timestamp() + interval '1 day'`;
  return `(${table}holder is null or ${isOver})`;
}
