import { describe, expect, test } from "vitest";
import { defineSlice } from "weakincentives";
import { bash, endingStage, note, own } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say } from "../support/claude/messages-server.ts";
import { filesIn } from "../support/files-in.ts";

/** How many turns there were, as the session knows it. */
const turns = defineSlice("ending.turns", {
  initial: 0,
  on: { TurnStarted: (count) => count + 1 },
});

describe.skipIf(sdkMissing)(
  "An evaluation that waits for another",
  { timeout: SDK_TIMEOUT },
  () => {
    test("begins when all of that is undone and over, and loses nothing by it", async () => {
      const stage = await endingStage(
        [
          { content: [bash("echo x > made.txt; sleep 600")] },
          { content: [own(note)] },
          { content: [say("Done.")] },
        ],
        { adapter: { rollBackFailedNativeTools: true } },
      );
      stage.session.register(turns);
      const given = new AbortController();
      const failure = stage.failure({ signal: given.signal });
      await stage.commandBegun();
      const left: (readonly unknown[])[] = [];
      stage.bus.subscribe("PromptRendered", () => left.push(stage.processes(), stage.folders()));
      const next = stage.run();
      given.abort(new Error("I changed my mind"));
      expect((await failure).message).toBe("I changed my mind");
      expect((await next).text).toBe("Done.");
      expect(left).toEqual([[], []]);
      expect(stage.session.get(turns)).toBe(3);
      expect(stage.noted()).toEqual(["before", "by our tool"]);
      expect(filesIn(stage.section.tempDir)).toEqual({
        "a.txt": "one",
        "noted.txt": "by our tool",
      });
      await stage.expectNothingLeft();
    });
  },
);
