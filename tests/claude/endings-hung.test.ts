import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Deadline, DeadlineExceededError } from "weakincentives";
import { fakeClock } from "weakincentives/testing";
import { bash, endingStage, hungTool, note, own } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say } from "../support/claude/messages-server.ts";

const LONGEST_MS = 5_000;
const reason = new Error("I have waited long enough");

/** What will not end by itself: in the foreground, beside it, in sessions of its own, deaf to signals. */
const STUBBORN = `
  setsid sleep 601 &
  nohup sleep 602 >/dev/null 2>&1 &
  setsid sh -c 'trap "" TERM HUP INT; sleep 603; sleep 604' &
  trap "" TERM HUP INT
  sleep 605; sleep 606
`;

describe.skipIf(sdkMissing)("What hangs on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  for (const by of ["a deadline", "a signal"] as const) {
    test(`is given up by ${by} where it is a tool of ours, and all that it did is undone`, async () => {
      const { tool, begun } = hungTool();
      const stage = await endingStage(
        [{ content: [own(note)] }, { content: [say("Now."), own(tool)] }, { content: [bash(":")] }],
        { tools: [note, tool] },
      );
      const given = new AbortController();
      const clock = fakeClock();
      const deadline = Deadline.after(1_000, clock);
      const failure = stage.failure(by === "a signal" ? { signal: given.signal } : { deadline });
      await begun;
      expect(stage.noted()).toEqual(["before", "by our tool", "by a tool that hangs"]);
      const start = Date.now();
      given.abort(reason);
      await clock.advance(1_000);
      const error = await failure;
      expect(Date.now() - start).toBeLessThan(LONGEST_MS);
      if (by === "a signal") expect(error).toBe(reason);
      else {
        expect(error).toBeInstanceOf(DeadlineExceededError);
        expect(error.partial).toMatchObject({ text: "Now.", turns: 2 });
      }
      expect(stage.noted()).toEqual(["before", "by our tool"]);
      expect(existsSync(join(stage.section.tempDir, "noted.txt"))).toBe(true);
      expect(existsSync(join(stage.section.tempDir, "hung.txt"))).toBe(false);
      expect(stage.server.requests).toHaveLength(2);
      await stage.expectNothingLeft();
    });
  }

  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`ends with the deadline where it is a command ${where}, with all that it started`, async () => {
      const stage = await endingStage(
        [{ content: [say("First."), own(note)] }, { content: [bash(STUBBORN)] }],
        { isSandboxed },
      );
      const clock = fakeClock();
      const failure = stage.failure({ deadline: Deadline.after(1_000, clock) });
      await stage.commandBegun();
      const sleeping = () => stage.processes().filter(({ command }) => /^sleep 60/.test(command));
      await expect.poll(() => sleeping().length).toBe(4);
      await clock.advance(1_000);
      const error = await failure;
      expect(error).toBeInstanceOf(DeadlineExceededError);
      expect(error.partial).toMatchObject({ text: "First.", turns: 1 });
      expect(stage.noted()).toEqual(["before", "by our tool"]);
      await stage.expectNothingLeft();
    });

    test(`does not outlive the answer where a command left it behind ${where}`, async () => {
      const left = "nohup sleep 601 >/dev/null 2>&1 & setsid sleep 602 >/dev/null 2>&1 & sleep 0.1";
      const stage = await endingStage([{ content: [bash(left)] }, { content: [say("Done.")] }], {
        isSandboxed,
      });
      expect((await stage.run()).text).toBe("Done.");
      await stage.expectNothingLeft();
    });
  }
});
