/** The changes that bring tables to their newest version, and the table that counts them. */
export interface MigrationPlan {
  /** Name of the table that has a row for each change that was made. */
  readonly table: string;
  /** Each change is made once, in order. `wink.` stands for the schema. */
  readonly changes: readonly string[];
}

/**
 * Returns one statement that brings a schema to the newest version. Processes that migrate at the same time wait for
 * each other. `schema` is a quoted identifier.
 */
export function createMigration(
  schema: string,
  { table, changes }: MigrationPlan = { table: "migration", changes: MIGRATIONS },
): string {
  const steps = changes.map((sql, index) => {
    const version = index + 1;
    return `if present < ${version} then
      ${sql.replaceAll("wink.", `${schema}.`)}
      insert into ${schema}.${table} (version) values (${version});
    end if;`;
  });
  const name = `'${schema.slice(1, -1)}'`;
  return `do $migrate$
  declare present int;
  begin
    perform pg_advisory_xact_lock(hashtext('weakincentives'), hashtext(${name}));
    if not exists (select from pg_namespace where nspname = ${name}) then
      create schema ${schema};
    end if;
    create table if not exists ${schema}.${table} (version int primary key, at timestamptz not null default now());
    select coalesce(max(version), 0) into present from ${schema}.${table};
    ${steps.join("\n    ")}
  end $migrate$`;
}

/** Each migration runs once, in order. Append new ones; never change a published one. */
const MIGRATIONS: readonly string[] = [
  `create sequence wink.fence;
      create table wink.session (
        key bigint generated always as identity unique,
        id text collate "C" primary key,
        next int not null default 0,
        fence bigint not null default 0,
        owner text,
        since timestamptz,
        holder text,
        lease_until timestamptz,
        created_at timestamptz not null default now()
      ) with (fillfactor = 50);
      create table wink.record (
        session_key bigint not null references wink.session (key) on delete cascade,
        n int not null,
        record text not null,
        at timestamptz not null default now(),
        primary key (session_key, n)
      );
      create table wink.checkpoint (
        session_key bigint primary key references wink.session (key) on delete cascade,
        checkpoint text not null
      );`,
];

/** Version of the tables that this release uses. */
export const SCHEMA_VERSION = MIGRATIONS.length;
