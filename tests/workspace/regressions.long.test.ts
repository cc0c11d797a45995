import { describe, expect, it } from "vitest";
import {
  type FaultSetting,
  type FaultStage,
  faultStage,
} from "../support/workspace/fault-stage.ts";
import { hasBubblewrap, repository } from "../support/workspace/stage.ts";
import { isBlock, isTurn } from "../support/workspace/story.ts";
import { FINDING } from "../support/workspace/twin.ts";

/** A workspace with the file `p/a.txt`, in which each task is the code to run; none, if it is "Talk.". */
async function running(section: FaultSetting["section"] = {}): Promise<FaultStage> {
  const hostPath = repository({ "a.txt": "one\n" });
  return await faultStage(
    (task, items) => {
      const code = /```py\n([\s\S]*?)\n```/.exec(task)?.[1];
      const hasRun = items.some(({ type }) => type === "code_interpreter_call");
      return code === undefined || hasRun ? [{ say: "Done." }] : [{ code: FINDING + code }];
    },
    { section: { mounts: [{ hostPath, mountPath: "p" }], syncPolicy: "eachTurn", ...section } },
  );
}

/** What the code printed. */
async function run(stage: FaultStage, code: string): Promise<string> {
  await stage.evaluate(`\`\`\`py\n${code}\n\`\`\``);
  const call = stage.told("ToolInvoked").at(-1);
  return String(Object(call?.result.value).stdout);
}

const FOLDERS = `print(sorted(name for name in os.listdir("/mnt/data") if os.path.isdir(name)))`;

describe.skipIf(!hasBubblewrap)("what is written", () => {
  it.each(["bootstrap", "files"] as const)(
    "while code runs is not undone by it, with unpack %j",
    async (unpack) => {
      const stage = await running({ unpack });
      const { filesystem } = stage.section;
      stage.relay.strike({
        on: /responses/,
        fits: isTurn,
        when: "during",
        act: async () => {
          await filesystem.writeText("p/a.txt", "mine\n");
          await filesystem.mkdir("p/new");
        },
      });
      await run(
        stage,
        `import time\ntime.sleep(0.5)\nopen(at("p/a.txt"), "w").write("code's") and None`,
      );
      expect(await filesystem.readText("p/a.txt")).toBe("mine\n");
      expect(await filesystem.isDir("p/new")).toBe(true);
      expect(await run(stage, `print(open(at("p/a.txt")).read(), end="")`)).toBe("mine\n");
      expect(await filesystem.isDir("p/new")).toBe(true);
    },
  );

  it("and rolled back leaves no folder in the container", async () => {
    const stage = await running();
    const { filesystem } = stage.section;
    await stage.evaluate("Talk.");
    const before = await filesystem.snapshot();
    await filesystem.writeText("x/y/z.txt", "z");
    expect(await run(stage, FOLDERS)).toBe("['p', 'x']\n");
    await filesystem.restore(before);
    expect(await run(stage, FOLDERS)).toBe("['p']\n");
    expect(await filesystem.exists("x")).toBe(false);
  });

  it("where a folder was for a moment is unpacked as what it is", async () => {
    const stage = await running();
    const { filesystem } = stage.section;
    await stage.evaluate("Talk.");
    await filesystem.delete("p/a.txt");
    await filesystem.mkdir("p/a.txt");
    await filesystem.delete("p/a.txt");
    await filesystem.writeText("p/a.txt", "one\n");
    await filesystem.writeText("p/b.txt", "two\n");
    await stage.evaluate("Talk.");
    expect(stage.told("UnpackingFailed")).toEqual([]);
  });

  it("as a folder with nothing in it is in the replacement, too", async () => {
    const stage = await running();
    const { filesystem } = stage.section;
    await stage.evaluate("Talk.");
    await filesystem.mkdir("p/deep/empty");
    await stage.calls.remove(stage.section.containerId ?? "");
    expect(await run(stage, `print(os.listdir("p/deep"))`)).toBe("['empty']\n");
    expect(await filesystem.isDir("p/deep/empty")).toBe(true);
  });
});

describe.skipIf(!hasBubblewrap)("what code did", () => {
  it.each(["bootstrap", "files"] as const)(
    "in a request that failed is seen all the same, with unpack %j",
    async (unpack) => {
      const stage = await running({ unpack });
      let hasRun = false;
      const refusal = { status: 400, json: { error: { message: "No.", param: "x" } } };
      stage.relay.answerBy((request) => (hasRun && isTurn(request) ? refusal : null));
      stage.relay.strike({
        on: /responses/,
        fits: isTurn,
        when: "after",
        act: async () => {
          hasRun = true;
        },
      });
      await expect(run(stage, `open(at("p/a.txt"), "w").write("code's") and None`)).rejects.toThrow(
        "400: No",
      );
      expect(await stage.section.filesystem.readText("p/a.txt")).toBe("code's");
    },
  );

  it("is not taken for all there was when a file could not be fetched", async () => {
    const stage = await running({ unpack: "files" });
    let isRefusing = true;
    const refusal = { status: 403, json: { error: { message: "No." } } };
    stage.relay.answerBy(({ path }) => (isRefusing && path.endsWith("/content") ? refusal : null));
    const move = `os.rename(at("p/a.txt"), "/mnt/data/b.txt")`;
    await run(stage, move);
    await stage.calls.remove(stage.section.containerId ?? "");
    const there = `print(open(at("p/a.txt")).read(), end="")`;
    expect(await run(stage, there)).toBe("one\n");
    isRefusing = false;
    await run(stage, move);
    const { filesystem } = stage.section;
    expect([await filesystem.glob("*"), await filesystem.readText("b.txt")]).toEqual([
      ["b.txt"],
      "one\n",
    ]);
  });

  it("is fetched later, where a file could not be fetched at once", async () => {
    const stage = await running({ unpack: "files" });
    let isRefusing = true;
    const refusal = { status: 403, json: { error: { message: "No." } } };
    stage.relay.answerBy(({ path }) => (isRefusing && path.endsWith("/content") ? refusal : null));
    await run(stage, `os.rename(at("p/a.txt"), "/mnt/data/b.txt")`);
    isRefusing = false;
    expect(await stage.section.filesystem.glob("*")).toEqual(["b.txt"]);
  });

  it.each(["bootstrap", "files"] as const)(
    "can be undone through us, with unpack %j",
    async (unpack) => {
      const stage = await running({ unpack });
      const { filesystem } = stage.section;
      await run(
        stage,
        `os.makedirs("out")\nopen("out/b.txt", "w").write("b")\nopen("c.txt", "w").write("c") and None`,
      );
      await filesystem.delete("out/b.txt");
      await filesystem.writeText("c.txt", "mine");
      const left = `print(sorted(os.listdir("out")), open(at("c.txt")).read())`;
      expect(await run(stage, left)).toBe("[] mine\n");
      expect(await filesystem.glob("*")).toEqual(["c.txt", "p/a.txt"]);
    },
  );
});

describe.skipIf(!hasBubblewrap)("a container that the provider makes", () => {
  it("is replaced by one that has what was fetched from it", async () => {
    const section = { mounts: [], containerConfig: { mode: "auto" } } as const;
    const stage = await running(section);
    await run(stage, `open("made.txt", "w").write("made") and None`);
    const first = stage.section.containerId;
    expect(stage.relay.requests.some(({ path }) => path === "/containers")).toBe(false);
    await stage.calls.remove(first ?? "");
    expect(await run(stage, `print(open("made.txt").read())`)).toBe("made\n");
    expect(stage.told("ContainerReplaced")).toMatchObject([
      { containerId: first, replacedBy: stage.section.containerId, restored: 1 },
    ]);
  });
});

describe.skipIf(!hasBubblewrap)("files that could not be unpacked", () => {
  it("are told of in every conversation, and in each once", async () => {
    const stage = await running();
    const nothing = {
      id: "resp_1",
      object: "response",
      status: "completed",
      output: [],
      usage: null,
    };
    stage.relay.answerBy((request) => (isBlock(request) ? { status: 200, json: nothing } : null));
    for (const _ of [1, 2]) {
      expect(await run(stage, `print(open(at("p/a.txt")).read(), end="")`)).toBe("one\n");
    }
    const told = stage.relay.requests
      .filter(isTurn)
      .map(({ text }) => text.split("are not in folders").length - 1);
    expect(told).toEqual([1, 1]);
    expect(stage.told("UnpackingFailed")).toHaveLength(1);
  });
});
