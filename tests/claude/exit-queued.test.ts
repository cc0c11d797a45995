import { describe, expect, test } from "vitest";
import { defineSlice } from "weakincentives";
import { createEndingFixture, noteTool, useBash, useTool } from "../support/claude/exit-fixture.ts";
import { textBlock } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { filesIn } from "../support/files-in.ts";

/** Counts the session's turns. */
const turns = defineSlice("ending.turns", {
  initial: 0,
  on: { TurnStarted: (count) => count + 1 },
});

describe.skipIf(sdkMissing)(
  "An evaluation that waits for another one on the real SDK",
  { timeout: SDK_TIMEOUT },
  () => {
    test("starts after the other one's rollback and cleanup, and keeps its own changes", async () => {
      const fixture = await createEndingFixture(
        [
          { content: [useBash("echo x > made.txt; sleep 600")] },
          { content: [useTool(noteTool)] },
          { content: [textBlock("Done.")] },
        ],
        { adapter: { rollBackFailedNativeTools: true } },
      );
      fixture.session.register(turns);
      const controller = new AbortController();
      const failure = fixture.runToError({ signal: controller.signal });
      await fixture.waitForCommand();
      const leftovers: (readonly unknown[])[] = [];
      fixture.bus.subscribe("PromptRendered", () =>
        leftovers.push(fixture.listProcesses(), fixture.listFolders()),
      );
      const next = fixture.run();
      controller.abort(new Error("I changed my mind"));
      expect((await failure).message).toBe("I changed my mind");
      expect((await next).text).toBe("Done.");
      expect(leftovers).toEqual([[], []]);
      expect(fixture.session.get(turns)).toBe(3);
      expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
      expect(filesIn(fixture.section.tempDir)).toEqual({
        "a.txt": "one",
        "noted.txt": "by our tool",
      });
      await fixture.expectNothingLeft();
    });
  },
);
