import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  bash,
  type EndingOptions,
  type EndingStage,
  endingStage,
  note,
  own,
} from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { lastTold } from "../support/claude/stage.ts";
import { filesIn } from "../support/files-in.ts";

const files = { "a.txt": "one", "gone.txt": "two", "run.sh": "three" };
const rollsBack: EndingOptions = { adapter: { rollBackFailedNativeTools: true }, files };
const DAMAGE = "echo x > new.txt; echo y > a.txt; rm gone.txt; chmod 777 run.sh; mkdir -p d/e";

/** Goes on when the test has noted something in the session. */
const WAIT = "while [ ! -e go ]; do sleep 0.02; done";

async function noteMeanwhile(stage: EndingStage): Promise<void> {
  await stage.commandBegun();
  stage.session.dispatch({ type: "EndingNoted", note: "meanwhile" });
  expect(stage.noted()).toContain("meanwhile");
  writeFileSync(join(stage.section.tempDir, "go"), "");
}

const modeOf = (stage: EndingStage) => statSync(join(stage.section.tempDir, "run.sh")).mode & 0o777;

describe.skipIf(sdkMissing)(
  "A command that fails on the real SDK",
  { timeout: SDK_TIMEOUT },
  () => {
    test("keeps what it did unless it is to be undone, and the model is told", async () => {
      const stage = await endingStage(
        [
          { content: [bash("echo x > new.txt; rm gone.txt; exit 3")] },
          { content: [say("I see.")] },
        ],
        { files },
      );
      expect((await stage.run()).text).toBe("I see.");
      expect(lastTold(stage.server)).toContain("Exit code 3");
      expect(filesIn(stage.section.tempDir)).toEqual({
        ...{ "a.txt": "one", "run.sh": "three", "new.txt": "x\n", begun: "" },
      });
      expect(stage.bus.of("ToolInvoked")).toMatchObject([{ result: { success: false } }]);
      await stage.expectNothingLeft();
    });

    for (const isSandboxed of [true, false]) {
      const where = isSandboxed ? "in its sandbox" : "without a sandbox";
      test(`is undone ${where}, and nothing else is`, async () => {
        const stage = await endingStage(
          [
            { content: [own(note), use("Bash", { command: "echo kept > kept.txt" })] },
            { content: [bash(`${DAMAGE}; ${WAIT}; exit 3`)] },
            { content: [own(note), use("Bash", { command: "echo later > later.txt" })] },
            { content: [say("I see.")] },
          ],
          { ...rollsBack, isSandboxed },
        );
        await stage.section.ready();
        const mode = modeOf(stage);
        const answer = stage.run();
        await noteMeanwhile(stage);
        expect((await answer).text).toBe("I see.");
        expect(stage.server.requests[2]?.text).toContain("Exit code 3");
        expect(filesIn(stage.section.tempDir)).toEqual({
          ...files,
          ...{ "noted.txt": "by our tool", "kept.txt": "kept\n", "later.txt": "later\n" },
        });
        expect(modeOf(stage)).toBe(mode);
        expect(stage.noted()).toEqual(["before", "by our tool", "by our tool"]);
        const outcomes = stage.bus.of("ToolInvoked").map(({ result }) => result.success);
        expect(outcomes).toEqual([true, true, false, true, true]);
        await stage.expectNothingLeft();
      });
    }

    for (const end of ["killed", "cancelled"] as const) {
      test(`is undone if the run is ${end} meanwhile`, async () => {
        const stage = await endingStage(
          [
            { content: [own(note)] },
            { content: [bash(`${DAMAGE}; ${WAIT}; touch end; sleep 600`)] },
          ],
          rollsBack,
        );
        const given = new AbortController();
        const failure = stage.failure({ signal: given.signal });
        await noteMeanwhile(stage);
        await expect.poll(() => filesIn(stage.section.tempDir)["end"]).toBe("");
        if (end === "killed") stage.killSdk();
        else given.abort(new Error("No more."));
        const words = { killed: /terminated by signal SIGKILL/, cancelled: /^No more\.$/ };
        expect((await failure).message).toMatch(words[end]);
        expect(filesIn(stage.section.tempDir)).toEqual({ ...files, "noted.txt": "by our tool" });
        expect(stage.noted()).toEqual(["before", "by our tool"]);
        await stage.expectNothingLeft();
      });
    }

    test("has nothing to undo if the SDK did not let it run: what came later stays", async () => {
      const stage = await endingStage(
        [
          { content: [use("Bash", { command: "rm -rf ~" }), own(note)] },
          { content: [say("I see.")] },
        ],
        rollsBack,
      );
      expect((await stage.run()).text).toBe("I see.");
      expect(stage.noted()).toEqual(["before", "by our tool"]);
      expect(filesIn(stage.section.tempDir)).toEqual({ ...files, "noted.txt": "by our tool" });
      await stage.expectNothingLeft();
    });

    test("can be undone among thousands of files", async () => {
      const many = Object.fromEntries(
        Array.from({ length: 5_000 }, (_, number) => [
          `f/${number % 50}/${number}.txt`,
          `${number}`,
        ]),
      );
      const stage = await endingStage(
        [
          { content: [bash("rm -r f; mkdir f; echo x > f/new.txt; exit 1")] },
          { content: [use("Bash", { command: "ls f | wc -l" })] },
          { content: [say("I see.")] },
        ],
        { ...rollsBack, files: many },
      );
      expect((await stage.run()).text).toBe("I see.");
      expect(lastTold(stage.server)).toContain("50");
      expect(filesIn(stage.section.tempDir)).toEqual(many);
      await stage.expectNothingLeft();
    });
  },
);

describe.skipIf(sdkMissing)("An edit that fails on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  test("undoes nothing that was done before it", async () => {
    const stage = await endingStage(
      [
        {
          content: [
            use("Write", { file_path: "new.txt", content: "mine" }),
            use("Edit", { file_path: "new.txt", old_string: "yours", new_string: "ours" }),
            use("Write", { file_path: "a.txt/b.txt", content: "in no folder" }),
          ],
        },
        { content: [say("I see.")] },
      ],
      rollsBack,
    );
    expect((await stage.run()).text).toBe("I see.");
    const outcomes = stage.bus.of("ToolInvoked").map(({ result }) => result.success);
    expect(outcomes).toEqual([true, false, false]);
    expect(filesIn(stage.section.tempDir)).toEqual({ ...files, "new.txt": "mine" });
    await stage.expectNothingLeft();
  });
});
