import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readLastMessage } from "../support/claude/claude-fixture.ts";
import {
  createEndingFixture,
  type EndingFixture,
  type EndingOptions,
  noteTool,
  useBash,
  useTool,
} from "../support/claude/exit-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { filesIn } from "../support/files-in.ts";

const files = { "a.txt": "one", "gone.txt": "two", "run.sh": "three" };
const rollsBack: EndingOptions = { adapter: { rollBackFailedNativeTools: true }, files };
const DAMAGE = "echo x > new.txt; echo y > a.txt; rm gone.txt; chmod 777 run.sh; mkdir -p d/e";

/** Waits until the test has added a note to the session. */
const WAIT = "while [ ! -e go ]; do sleep 0.02; done";

async function addNoteDuringCommand(fixture: EndingFixture): Promise<void> {
  await fixture.waitForCommand();
  fixture.session.dispatch({ type: "EndingNoted", note: "during the command" });
  expect(fixture.readNotes()).toContain("during the command");
  writeFileSync(join(fixture.section.tempDir, "go"), "");
}

const readMode = (fixture: EndingFixture) =>
  statSync(join(fixture.section.tempDir, "run.sh")).mode & 0o777;

describe.skipIf(sdkMissing)("A failed command on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("keeps its changes by default, and the model gets the error", async () => {
    const fixture = await createEndingFixture(
      [
        { content: [useBash("echo x > new.txt; rm gone.txt; exit 3")] },
        { content: [textBlock("I see.")] },
      ],
      { files },
    );
    expect((await fixture.run()).text).toBe("I see.");
    expect(readLastMessage(fixture.server)).toContain("Exit code 3");
    expect(filesIn(fixture.section.tempDir)).toEqual({
      ...{ "a.txt": "one", "run.sh": "three", "new.txt": "x\n", started: "" },
    });
    expect(fixture.bus.of("ToolInvoked")).toMatchObject([{ result: { success: false } }]);
    await fixture.expectNothingLeft();
  });

  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`${where} is rolled back, and other calls are not`, async () => {
      const fixture = await createEndingFixture(
        [
          { content: [useTool(noteTool), toolUse("Bash", { command: "echo kept > kept.txt" })] },
          { content: [useBash(`${DAMAGE}; ${WAIT}; exit 3`)] },
          {
            content: [useTool(noteTool), toolUse("Bash", { command: "echo later > later.txt" })],
          },
          { content: [textBlock("I see.")] },
        ],
        { ...rollsBack, isSandboxed },
      );
      await fixture.section.ready();
      const mode = readMode(fixture);
      const answer = fixture.run();
      await addNoteDuringCommand(fixture);
      expect((await answer).text).toBe("I see.");
      expect(fixture.server.requests[2]?.text).toContain("Exit code 3");
      expect(filesIn(fixture.section.tempDir)).toEqual({
        ...files,
        ...{ "noted.txt": "by our tool", "kept.txt": "kept\n", "later.txt": "later\n" },
      });
      expect(readMode(fixture)).toBe(mode);
      expect(fixture.readNotes()).toEqual(["before", "by our tool", "by our tool"]);
      const outcomes = fixture.bus.of("ToolInvoked").map(({ result }) => result.success);
      expect(outcomes).toEqual([true, true, false, true, true]);
      await fixture.expectNothingLeft();
    });
  }

  for (const end of ["killed", "canceled"] as const) {
    test(`is rolled back if the run is ${end} during the command`, async () => {
      const fixture = await createEndingFixture(
        [
          { content: [useTool(noteTool)] },
          { content: [useBash(`${DAMAGE}; ${WAIT}; touch end; sleep 600`)] },
        ],
        rollsBack,
      );
      const controller = new AbortController();
      const failure = fixture.runToError({ signal: controller.signal });
      await addNoteDuringCommand(fixture);
      await expect.poll(() => filesIn(fixture.section.tempDir)["end"]).toBe("");
      if (end === "killed") fixture.killSdk();
      else controller.abort(new Error("Stop."));
      const messages = { killed: /terminated by signal SIGKILL/, canceled: /^Stop\.$/ };
      expect((await failure).message).toMatch(messages[end]);
      expect(filesIn(fixture.section.tempDir)).toEqual({ ...files, "noted.txt": "by our tool" });
      expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
      await fixture.expectNothingLeft();
    });
  }

  test("is not rolled back if the SDK did not run it, and later changes stay", async () => {
    const fixture = await createEndingFixture(
      [
        { content: [toolUse("Bash", { command: "rm -rf ~" }), useTool(noteTool)] },
        { content: [textBlock("I see.")] },
      ],
      rollsBack,
    );
    expect((await fixture.run()).text).toBe("I see.");
    expect(fixture.readNotes()).toEqual(["before", "by our tool"]);
    expect(filesIn(fixture.section.tempDir)).toEqual({ ...files, "noted.txt": "by our tool" });
    await fixture.expectNothingLeft();
  });

  test("is rolled back in a workspace with 5,000 files", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, number) => [`f/${number % 50}/${number}.txt`, `${number}`]),
    );
    const fixture = await createEndingFixture(
      [
        { content: [useBash("rm -r f; mkdir f; echo x > f/new.txt; exit 1")] },
        { content: [toolUse("Bash", { command: "ls f | wc -l" })] },
        { content: [textBlock("I see.")] },
      ],
      { ...rollsBack, files: many },
    );
    expect((await fixture.run()).text).toBe("I see.");
    expect(readLastMessage(fixture.server)).toContain("50");
    expect(filesIn(fixture.section.tempDir)).toEqual(many);
    await fixture.expectNothingLeft();
  });
});

describe.skipIf(sdkMissing)("A failed edit on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("keeps earlier changes", async () => {
    const fixture = await createEndingFixture(
      [
        {
          content: [
            toolUse("Write", { file_path: "new.txt", content: "mine" }),
            toolUse("Edit", { file_path: "new.txt", old_string: "yours", new_string: "ours" }),
            toolUse("Write", { file_path: "a.txt/b.txt", content: "in no folder" }),
          ],
        },
        { content: [textBlock("I see.")] },
      ],
      rollsBack,
    );
    expect((await fixture.run()).text).toBe("I see.");
    const outcomes = fixture.bus.of("ToolInvoked").map(({ result }) => result.success);
    expect(outcomes).toEqual([true, false, false]);
    expect(filesIn(fixture.section.tempDir)).toEqual({ ...files, "new.txt": "mine" });
    await fixture.expectNothingLeft();
  });
});
