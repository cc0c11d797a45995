import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLoop } from "../../../tests/support/fleet/fleet-fixture.ts";
import { runFleetCommand } from "../../../tests/support/fleet/run-fleet-command.ts";
import { Fleet } from "../../fleet/fleet.ts";

test("cancel, retry, approve and drain print one line of JSON with --json", async () => {
  const root = await mkdtemp(join(tmpdir(), "wink-json-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, "fleet");
  const runJson = async (...args: readonly string[]) => {
    const { out, err, code } = await runFleetCommand(...args, "--json", "--folder", folder);
    expect([err, code, out.trim().split("\n").length]).toEqual(["", 0, 1]);
    return JSON.parse(out);
  };
  const fleet = await Fleet.open({ folder });
  const loop = createLoop();
  const { id: first } = await fleet.enqueue(loop, { n: 1 });
  const { id: second } = await fleet.enqueue(loop, { n: 2 });
  const { id: parked } = await fleet.enqueue(loop, { n: 3 });
  const approvals = [{ key: "1:a", name: "pay", params: {} }];
  await fleet.transact(async (sql) => {
    const update = "update wink.run set state = 'parked', approvals = $2 where id = $1";
    await sql.query(update, [parked, JSON.stringify(approvals)]);
  });
  await fleet.close();
  expect(await runJson("cancel", first)).toEqual({ id: first, state: "cancelled", worker: null });
  expect(await runJson("retry", first)).toEqual({ retried: [first] });
  await runJson("cancel", first);
  await runJson("cancel", second, "--reason", "enough");
  expect(await runJson("retry", "--state", "cancelled")).toEqual({ retried: [second, first] });
  expect(await runJson("retry", "--state", "failed")).toEqual({ retried: [] });
  expect(await runJson("approve", parked, "--deny")).toEqual({
    ...{ id: parked, key: "1:a", name: "pay", decision: "deny", waiting: 0 },
  });
  expect(await runJson("drain", "--wait")).toEqual({ drained: [], haveEnded: true });
});
