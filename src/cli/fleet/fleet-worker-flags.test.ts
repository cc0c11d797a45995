import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runWink } from "../../../tests/support/cli/run-wink.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { FleetActions } from "./fleet-actions.ts";
import { toFleetFlagError } from "./to-fleet-flag-error.ts";

const URL = "postgres://pooler/db";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] }); // the command ends the process a second after the worker
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** Parses the arguments of `wink fleet worker`. Returns what its action receives. */
async function parse(...args: readonly string[]) {
  const worker = vi.fn<FleetActions["worker"]>(async () => {});
  const fleet = { worker } as unknown as FleetActions;
  const { err, code } = await runWink({ fleet }, ["fleet", "worker", "a.mts", ...args]);
  const [choice, options] = worker.mock.calls[0] ?? [];
  return { choice, options, err, code };
}

test("a worker of the command line deletes old runs only with --keep-done-days", async () => {
  expect((await parse("--postgres", URL)).options?.keepDoneDays).toBeUndefined();
  const { options } = await parse("--postgres", URL, "--keep-done-days", "90");
  expect(options?.keepDoneDays).toBe(90);
  expect((await parse("--postgres", URL, "--keep-done-days", "0")).code).toBe(2);
});

test("--direct and its variable are the address of PostgreSQL behind a pooler", async () => {
  const direct = "postgres://server/db";
  expect((await parse("--postgres", URL)).choice).not.toHaveProperty("direct");
  expect((await parse("--postgres", URL, "--direct", direct)).choice).toMatchObject({ direct });
  expect((await parse("--postgres", URL, "--direct", "none")).choice).toMatchObject({
    direct: false,
  });
  vi.stubEnv("WINK_FLEET_DIRECT", direct);
  expect((await parse("--postgres", URL)).choice).toMatchObject({ direct });
  expect((await parse("--folder", "a")).choice).not.toHaveProperty("direct");
});

test("--direct is refused for a folder, and named in errors", async () => {
  const { err, code } = await parse("--folder", "a", "--direct", "none");
  expect(err).toContain("--direct must be used together with --postgres or its variable");
  expect(code).toBe(2);
  const refusal = { field: "Fleet.open(options).direct", value: 1, rule: "a", remedy: "b" };
  expect(toFleetFlagError(new InvalidOptionError(refusal), { source: "--postgres" })).toMatchObject(
    { field: "--direct" },
  );
});
