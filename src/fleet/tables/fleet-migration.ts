import { createMigration } from "../../stores/postgres/migration.ts";
import { BLOB_TABLES } from "../workspace/blob-tables.ts";

/** Returns one statement that brings the fleet's tables to the newest version. `schema` is a quoted identifier. */
export function createFleetMigration(schema: string): string {
  return createMigration(schema, { table: "fleet_migration", changes: MIGRATIONS });
}

/** Each migration runs once, in order. Append new ones; never change a published one. */
const MIGRATIONS: readonly string[] = [
  `${BLOB_TABLES}
      create table wink.worker (
        id int generated always as identity primary key,
        host text not null,
        pid int not null,
        loops text not null,
        concurrency int not null,
        has_presence boolean not null default false,
        up_at timestamptz not null default now(),
        seen_at timestamptz not null default now(),
        drain_at timestamptz,
        gone_at timestamptz
      );
      create table wink.run (
        id uuid primary key,
        loop text not null,
        version text not null,
        key text,
        request text not null,
        state text not null default 'waiting'
          check (state in ('waiting', 'running', 'parked', 'done', 'failed', 'cancelled', 'dead-lettered')),
        priority int not null default 0,
        grp text,
        not_before timestamptz,
        deadline_ms bigint,
        deadline timestamptz,
        job uuid,
        job_attempt int not null default 0,
        fence bigint not null default 0,
        worker int,
        attempt int not null default 0,
        stuck int not null default 0,
        lost int not null default 0,
        seen_next int not null default 0,
        cancel_reason text,
        approvals text not null default '[]',
        decisions text not null default '{}',
        usage jsonb,
        output text,
        failure text,
        error text,
        created_at timestamptz not null default now(),
        claimed_at timestamptz,
        parked_at timestamptz,
        ended_at timestamptz
      ) with (fillfactor = 70);
      create unique index run_key on wink.run (loop, key) where key is not null;
      create index run_by_state on wink.run (state, loop, created_at, id);
      create index run_by_age on wink.run (created_at, id);
      create index run_by_worker on wink.run (worker) where state = 'running';
      create view wink.now as
        select loop, version, state, count(*) as runs, min(created_at) as oldest, max(stuck) as most_stuck
        from wink.run where ended_at is null group by loop, version, state;
      create view wink.stuck as
        select id, loop, version, state, attempt, stuck, lost, created_at, claimed_at, parked_at,
          failure
        from wink.run
        where state = 'dead-lettered' or state = 'parked' or (ended_at is null and stuck > 1);
      create view wink.spend as
        select loop, grp, date_trunc('day', created_at) as day, count(*) as runs, sum(attempt) as attempts,
          sum(lost) as lost_attempts, sum((usage ->> 'inputTokens')::bigint) as input_tokens,
          sum((usage ->> 'outputTokens')::bigint) as output_tokens, sum((usage ->> 'totalTokens')::bigint) as total_tokens
        from wink.run group by loop, grp, date_trunc('day', created_at);`,
];

/** Version of the tables that this release uses. */
export const FLEET_VERSION = MIGRATIONS.length;
