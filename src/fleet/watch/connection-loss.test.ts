import { expect, test } from "vitest";
import type { Run } from "../run.ts";
import { awaitResult } from "./await-result.ts";
import { followRun } from "./follow-run.ts";

const fail = (message: string, code?: string) =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

/** The parts that watch a run which is done, and whose database fails with the errors one after another. */
function createParts(...errors: readonly Error[]) {
  const left = [...errors];
  const parts = {
    database: {},
    runs: {
      async find(): Promise<Partial<Run>> {
        const error = left.shift();
        if (error) throw error;
        return { id: "a", state: "done" };
      },
      readEnd: async () => ({ output: '"done"', error: "" }),
    },
    store: {
      async *read(_id: string, { from }: { readonly from: number }) {
        for (let n = from; n < 3; n++) {
          yield { n, kind: "event", event: { type: "Counted", n } };
          const error = left.shift();
          if (error) throw error;
        }
      },
    },
    notifications: { isClosed: false, wait: async () => {} },
  };
  return parts as never;
}

const LOSSES = [
  fail("terminating connection due to administrator command", "57P01"),
  fail("the database system is starting up", "57P03"),
  fail("connect", "ECONNREFUSED"),
  fail("Connection terminated unexpectedly"),
  new Error("The session could not be read.", { cause: fail("reset", "ECONNRESET") }),
  fail("connection failure", "08006"),
];

test("the result of a run is returned although the database could not be reached for a while", async () => {
  expect(await awaitResult(createParts(...LOSSES), "a", new AbortController().signal)).toBe("done");
});

test("a run is followed without gaps although the database could not be reached for a while", async () => {
  const positions: number[] = [];
  for await (const { position } of followRun(createParts(...LOSSES), "a", {})) {
    positions.push(position);
  }
  expect(positions).toEqual([0, 1, 2]);
});

test("a statement that the database refuses ends the wait for a run", async () => {
  const refused = fail("permission denied for table run", "42501");
  const { signal } = new AbortController();
  await expect(awaitResult(createParts(refused), "a", signal)).rejects.toBe(refused);
  await expect(followRun(createParts(refused), "a", {}).next()).rejects.toBe(refused);
});

test("the signal ends the wait for a run whose database cannot be reached", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const parts = createParts(...Array.from({ length: 1_000 }, () => LOSSES).flat());
  setImmediate(() => controller.abort(reason));
  Object.assign((parts as { notifications: object }).notifications, {
    wait: () => new Promise((resolve) => setImmediate(resolve)),
  });
  await expect(awaitResult(parts, "a", controller.signal)).rejects.toBe(reason);
});
