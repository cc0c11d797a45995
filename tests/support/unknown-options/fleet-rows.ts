import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { definePrompt } from "weakincentives";
import { AgentLoop, Fleet, RunNotFoundError } from "weakincentives/fleet";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";
import type { Row } from "./row.ts";

const options = {
  name: "loop",
  request: z.object({}),
  prepare: () => definePrompt({ name: "task", instructions: "Do it." }),
  adapter: () => scriptedClient({ text: "done" }),
};
const loop = new AgentLoop(options);

/** One fleet for all rows, opened by the first that needs it. */
let opened: Promise<{ readonly fleet: Fleet; readonly folder: string }> | null = null;
async function openFleet(): Promise<Fleet> {
  opened ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), "wink-options-"));
    return { folder, fleet: await Fleet.open({ folder }) };
  })();
  return (await opened).fleet;
}
afterAll(async () => {
  const { fleet, folder } = (await opened) ?? {};
  await fleet?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

/** Valid options of `Fleet.open`, without opening another fleet: its database is another one that does not exist. */
async function openElsewhere(more: unknown): Promise<void> {
  const postgres = "postgres://127.0.0.1:1/none";
  await Fleet.open({ postgres, ...Object(more) }).catch((error: Error) => {
    if (!error.message.includes("ECONNREFUSED")) throw error;
  });
}

const id = "00000000-0000-4000-8000-000000000000";
const ignoreMissingRun = (error: unknown) => {
  if (!(error instanceof RunNotFoundError)) throw error;
};

/** `weakincentives/fleet`. */
export const fleetRows: readonly Row[] = [
  ["AgentLoop", "slice", "slices", (o) => new AgentLoop({ ...options, ...Object(o) })],
  ["AgentLoop.limits", "attempt", "attempts", (o) => new AgentLoop({ ...options, limits: o })],
  ["AgentLoop.execute(options)", "sesion", "session", (o) => new AgentLoop(options).execute({}, o)],
  ["Fleet.open(options)", "postgre", "postgres", openElsewhere],
  [
    "Fleet.enqueue(options)",
    "priorty",
    "priority",
    async (o) => (await openFleet()).enqueue(loop, {}, o),
  ],
  [
    "Fleet.schedule(options)",
    "groups",
    "group",
    async (o) => (await openFleet()).schedule(loop, "0 3 * * *", {}, o),
  ],
  [
    "Fleet.worker(options)",
    "concurency",
    "concurrency",
    async (o) => (await openFleet()).worker([loop], o),
  ],
  ["Fleet.runs(filter)", "states", "state", async (o) => (await openFleet()).runs(o).next()],
  [
    "Fleet.result(options)",
    "signals",
    "signal",
    async (o) => (await openFleet()).result(id, o).catch(ignoreMissingRun),
  ],
  [
    "Fleet.follow(options)",
    "signals",
    "signal",
    async (o) => (await openFleet()).follow(id, o).next().catch(ignoreMissingRun),
  ],
];
