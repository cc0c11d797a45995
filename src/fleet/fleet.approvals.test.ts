import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createLoop,
  createTool,
  findRun,
  fleetDatabases,
  Gate,
  openTestFleet,
  type TestFleet,
  type TestLoopOptions,
} from "../../tests/support/fleet/fleet-fixture.ts";
import type { TurnRequest } from "../adapter/model-client.ts";
import { definePrompt } from "../prompt/define-prompt.ts";
import type { Tool } from "../tools/tool.ts";
import { FleetError } from "./fleet-error.ts";

/** A loop whose first turn calls tools that need approval. Its answer is what the model has read about the calls. */
function createApprovalLoop(names: readonly string[], options: TestLoopOptions = {}) {
  const calls: string[] = [];
  const tools = names.map((name) =>
    createTool(name, () => void calls.push(name), { needsApproval: true }),
  );
  const model = ({ turn, answers }: TurnRequest) =>
    turn === 1
      ? { toolCalls: names.map((name) => ({ name })) }
      : { text: answers.map(({ text }) => text).join(" / ") };
  return { calls, loop: createLoop({ tools, model, ...options }) };
}

/** Prepares a prompt with these tools. */
function createPreparation(tools: readonly Tool[]): Pick<TestLoopOptions, "prepare"> {
  return {
    prepare: ({ n }) => ({
      prompt: definePrompt({ name: "task", instructions: "Do it.", tools: [...tools] }),
      input: `Number ${n}`,
    }),
  };
}

describe.each(fleetDatabases)("approvals on %s", (_name, kind, isAvailable) => {
  describe.runIf(isAvailable)("of a run", () => {
    let scene: TestFleet;
    beforeAll(async () => {
      scene = await openTestFleet(kind);
    });
    afterAll(async () => {
      await scene[Symbol.asyncDispose]();
    });

    test("a call that needs approval parks its run, and the approved call runs once", async () => {
      const { fleet, work, reach } = scene;
      const { calls, loop } = createApprovalLoop(["charge"]);
      const { worker, stop } = work([loop], { concurrency: 1 });
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const parked = await reach(id, "parked");
      expect(parked).toMatchObject({ worker: null, attempt: 1, stuck: 0, endedAt: null });
      expect(parked.approvals).toMatchObject([{ name: "charge", sessionId: id, params: null }]);
      await expect.poll(() => worker.health().running).toBe(0); // its slot is free
      expect(calls).toEqual([]);
      await fleet.approve(id, parked.approvals[0]?.key ?? "", "approve");
      expect(await fleet.result(id)).toBe("charge done");
      expect(calls).toEqual(["charge"]);
      expect(await findRun(fleet, id)).toMatchObject({ approvals: [], attempt: 2 });
      await stop();
    });

    test("a denied call does not run, and the model reads that", async () => {
      const { fleet, work, reach } = scene;
      const { calls, loop } = createApprovalLoop(["charge"]);
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals } = await reach(id, "parked");
      await fleet.approve(id, approvals[0]?.key ?? "", "deny");
      expect(await fleet.result(id)).toMatch(/^The call was not made: it was denied/);
      expect(calls).toEqual([]);
      await stop();
    });

    test("two calls can be decided one by one, and the run parks between the decisions", async () => {
      const { fleet, work, reach } = scene;
      const { calls, loop } = createApprovalLoop(["charge", "refund"]);
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals } = await reach(id, "parked");
      const [charge, refund] = approvals.map(({ key }) => key);
      await fleet.approve(id, charge ?? "", "approve");
      await expect.poll(async () => (await findRun(fleet, id)).attempt).toBe(2);
      const again = await reach(id, "parked");
      expect(again.approvals.map(({ name }) => name)).toEqual(["refund"]);
      await fleet.approve(id, refund ?? "", "deny");
      expect(await fleet.result(id)).toMatch(
        /^charge done \/ The call was not made: it was denied/,
      );
      expect(calls).toEqual(["charge"]);
      await stop();
    });

    test("a call that is decided while the run runs does not park it again", async () => {
      const { fleet, work, reach } = scene;
      const gate = new Gate();
      const names = ["charge", "refund"];
      const tools = names.map((name) =>
        createTool(name, () => gate.pass(), { needsApproval: true }),
      );
      const { loop } = createApprovalLoop(names, { ...createPreparation(tools) });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals } = await reach(id, "parked");
      await fleet.approve(id, approvals[0]?.key ?? "", "approve");
      await gate.waitFor();
      expect(await findRun(fleet, id)).toMatchObject({
        state: "running",
        approvals: [{ name: "refund" }],
      });
      await fleet.approve(id, approvals[1]?.key ?? "", "approve");
      gate.open();
      expect(await fleet.result(id)).toBe("charge done / refund done");
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 3, stuck: 0 });
      await stop();
    });

    test("the same decision may be repeated, and the other one is refused", async () => {
      const { fleet, work, reach } = scene;
      const { calls, loop } = createApprovalLoop(["charge"]);
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals } = await reach(id, "parked");
      await stop();
      const key = approvals[0]?.key ?? "";
      await fleet.approve(id, key, "approve");
      await fleet.approve(id, key, "approve");
      const denying = fleet.approve(id, key, "deny");
      await expect(denying).rejects.toThrow(
        new FleetError(
          `The call ${JSON.stringify(key)} of run ${id} is decided: "approve". Cancel the run if the decision was wrong.`,
        ),
      );
      expect(await findRun(fleet, id)).toMatchObject({ state: "waiting", approvals: [] });
      const { stop: stopSecond } = work([loop]);
      expect(await fleet.result(id)).toBe("charge done");
      expect(calls).toEqual(["charge"]);
      await stopSecond();
    });

    test("several people who approve at once create one attempt", async () => {
      const { fleet, work, reach, query } = scene;
      const { calls, loop } = createApprovalLoop(["charge"]);
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals } = await reach(id, "parked");
      const key = approvals[0]?.key ?? "";
      await Promise.all(Array.from({ length: 5 }, () => fleet.approve(id, key, "approve")));
      expect(await fleet.result(id)).toBe("charge done");
      expect(await findRun(fleet, id)).toMatchObject({ attempt: 2 });
      expect(calls).toEqual(["charge"]);
      const jobs = "select count(*)::int as jobs from boss.job where data ->> 'runId' = $1";
      expect(await query(jobs, [id])).toEqual([{ jobs: 2 }]);
      await stop();
    });

    test("a key that the run does not wait for is refused, and so is a decision that is neither", async () => {
      const { fleet } = scene;
      const { loop } = createApprovalLoop(["charge"]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const message = `Run ${id} is waiting and does not wait for the approval of "x". Use a key of its approvals.`;
      await expect(fleet.approve(id, "x", "approve")).rejects.toThrow(new FleetError(message));
      await expect(fleet.approve(id, "x", "yes" as never)).rejects.toThrow(
        'Fleet.approve(decision) must be "approve" or "deny", got "yes". Approve the call or deny it.',
      );
    });

    test("time in which a run is parked does not count for its deadline", async () => {
      const { fleet, work, reach, query } = scene;
      const { loop } = createApprovalLoop(["charge"], { limits: { deadlineMs: 60_000 } });
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals, deadline } = await reach(id, "parked");
      await query(
        `update wink.run set parked_at = parked_at - interval '1 hour', deadline = deadline - interval '1 hour'
         where id = $1`,
        [id],
      ); // as if the run had been parked an hour ago
      await fleet.approve(id, approvals[0]?.key ?? "", "approve");
      expect(await fleet.result(id)).toBe("charge done");
      const { deadline: moved } = await findRun(fleet, id);
      expect(Date.parse(moved ?? "")).toBeGreaterThanOrEqual(Date.parse(deadline ?? ""));
      await stop();
    });

    test("a loop's own approve decides first, and can park the run", async () => {
      const { fleet, work, reach } = scene;
      const approving = createApprovalLoop(["charge"], { approve: async () => "approve" });
      const parking = createApprovalLoop(["charge"], { approve: async () => "park" });
      const { stop } = work([approving.loop, parking.loop]);
      const first = await fleet.enqueue(approving.loop, { n: 1 });
      expect(await fleet.result(first.id)).toBe("charge done");
      const second = await fleet.enqueue(parking.loop, { n: 1 });
      const { approvals } = await reach(second.id, "parked");
      await fleet.approve(second.id, approvals[0]?.key ?? "", "approve");
      expect(await fleet.result(second.id)).toBe("charge done");
      await stop();
    });

    test("a parked run that is cancelled ends at once, and can be retried", async () => {
      const { fleet, work, reach } = scene;
      const { loop } = createApprovalLoop(["charge"]);
      const { stop } = work([loop]);
      const { id } = await fleet.enqueue(loop, { n: 1 });
      const { approvals } = await reach(id, "parked");
      await fleet.cancel(id, "not today");
      expect(await findRun(fleet, id)).toMatchObject({ state: "cancelled", approvals: [] });
      await expect(fleet.approve(id, approvals[0]?.key ?? "", "approve")).rejects.toThrow(
        `Run ${id} is cancelled and does not wait`,
      );
      await fleet.retry(id);
      await expect.poll(async () => (await findRun(fleet, id)).attempt).toBe(2);
      await reach(id, "parked");
      await fleet.approve(id, approvals[0]?.key ?? "", "approve");
      expect(await fleet.result(id)).toBe("charge done");
      await stop();
    });
  });
});
