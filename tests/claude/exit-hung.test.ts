import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Deadline, DeadlineExceededError } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import {
  createEndingFixture,
  createHangingTool,
  noteTool,
  useBash,
  useTool,
} from "../support/claude/exit-fixture.ts";
import { textBlock } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const LONGEST_MS = 5_000;
const reason = new Error("I have waited long enough");

/** Processes that do not end on their own: in the background, in new sessions, ignoring signals. */
const STUBBORN = `
  setsid sleep 601 &
  nohup sleep 602 >/dev/null 2>&1 &
  setsid sh -c 'trap "" TERM HUP INT; sleep 603; sleep 604' &
  trap "" TERM HUP INT
  sleep 605; sleep 606
`;

describe.skipIf(sdkMissing)("A hanging call on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  for (const by of ["a deadline", "a signal"] as const) {
    test(`to a prompt's tool is stopped by ${by}, and its changes are rolled back`, async () => {
      const { tool, started } = createHangingTool();
      const fixture = await createEndingFixture(
        [
          { content: [useTool(noteTool)] },
          { content: [textBlock("Now."), useTool(tool)] },
          { content: [useBash(":")] },
        ],
        { tools: [noteTool, tool] },
      );
      const controller = new AbortController();
      const clock = fakeClock();
      const deadline = Deadline.after(1_000, clock);
      const failure = fixture.runToError(
        by === "a signal" ? { signal: controller.signal } : { deadline },
      );
      await started;
      expect(fixture.readNotes()).toEqual(["before", "by our tool", "by a tool that hangs"]);
      const start = Date.now();
      controller.abort(reason);
      await clock.advance(1_000);
      const error = await failure;
      expect(Date.now() - start).toBeLessThan(LONGEST_MS);
      if (by === "a signal") expect(error).toBe(reason);
      else {
        expect(error).toBeInstanceOf(DeadlineExceededError);
        expect(error.partial).toMatchObject({ text: "Now.", turns: 2 });
      }
      expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
      expect(existsSync(join(fixture.section.tempDir, "noted.txt"))).toBe(true);
      expect(existsSync(join(fixture.section.tempDir, "hung.txt"))).toBe(false);
      expect(fixture.server.requests).toHaveLength(2);
      await fixture.expectNothingLeft();
    });
  }

  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`that runs a command ${where} is stopped by the deadline, with all its processes`, async () => {
      const fixture = await createEndingFixture(
        [{ content: [textBlock("First."), useTool(noteTool)] }, { content: [useBash(STUBBORN)] }],
        { isSandboxed },
      );
      const clock = fakeClock();
      const failure = fixture.runToError({ deadline: Deadline.after(1_000, clock) });
      await fixture.waitForCommand();
      const listSleeping = () =>
        fixture.listProcesses().filter(({ command }) => /^sleep 60/.test(command));
      await expect.poll(() => listSleeping().length).toBe(4);
      await clock.advance(1_000);
      const error = await failure;
      expect(error).toBeInstanceOf(DeadlineExceededError);
      expect(error.partial).toMatchObject({ text: "First.", turns: 1 });
      expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
      await fixture.expectNothingLeft();
    });

    test(`leaves no background processes of a command ${where} after the answer`, async () => {
      const command =
        "nohup sleep 601 >/dev/null 2>&1 & setsid sleep 602 >/dev/null 2>&1 & sleep 0.1";
      const fixture = await createEndingFixture(
        [{ content: [useBash(command)] }, { content: [textBlock("Done.")] }],
        {
          isSandboxed,
        },
      );
      expect((await fixture.run()).text).toBe("Done.");
      await fixture.expectNothingLeft();
    });
  }
});
