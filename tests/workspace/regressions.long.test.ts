import { describe, expect, it } from "vitest";
import {
  type ContainerFaultFixture,
  type ContainerFaultOptions,
  createContainerFaultFixture,
} from "../support/workspace/container-fault-fixture.ts";
import { isConversationRequest, isWorkspaceRequest } from "../support/workspace/fault-scenario.ts";
import { PATH_LOOKUP } from "../support/workspace/reference-folder.ts";
import { createRepository, hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

/** Creates a workspace with the file `p/a.txt`. Each task is the code to run, or "Talk." for none. */
async function createFixture(
  section: ContainerFaultOptions["section"] = {},
): Promise<ContainerFaultFixture> {
  const hostPath = createRepository({ "a.txt": "one\n" });
  return await createContainerFaultFixture(
    (task, items) => {
      const code = /```py\n([\s\S]*?)\n```/.exec(task)?.[1];
      const hasRun = items.some(({ type }) => type === "code_interpreter_call");
      return code === undefined || hasRun ? [{ say: "Done." }] : [{ code: PATH_LOOKUP + code }];
    },
    { section: { mounts: [{ hostPath, mountPath: "p" }], syncPolicy: "eachTurn", ...section } },
  );
}

/** Runs code and returns its output. */
async function runCode(fixture: ContainerFaultFixture, code: string): Promise<string> {
  await fixture.evaluate(`\`\`\`py\n${code}\n\`\`\``);
  const call = fixture.findEvents("ToolInvoked").at(-1);
  return String(Object(call?.result.value).stdout);
}

const FOLDERS = `print(sorted(name for name in os.listdir("/mnt/data") if os.path.isdir(name)))`;

describe.skipIf(!hasBubblewrap)("a write to the workspace's file system", () => {
  it.each(["bootstrap", "files"] as const)(
    "is not overwritten by code that runs at the same time, with unpack %j",
    async (unpack) => {
      const fixture = await createFixture({ unpack });
      const { filesystem } = fixture.section;
      fixture.relay.injectFault({
        on: /responses/,
        matches: isConversationRequest,
        when: "during",
        act: async () => {
          await filesystem.writeText("p/a.txt", "mine\n");
          await filesystem.mkdir("p/new");
        },
      });
      await runCode(
        fixture,
        `import time\ntime.sleep(0.5)\nopen(at("p/a.txt"), "w").write("code's") and None`,
      );
      expect(await filesystem.readText("p/a.txt")).toBe("mine\n");
      expect(await filesystem.isDir("p/new")).toBe(true);
      expect(await runCode(fixture, `print(open(at("p/a.txt")).read(), end="")`)).toBe("mine\n");
      expect(await filesystem.isDir("p/new")).toBe(true);
    },
  );

  it("leaves no folder in the container after it was rolled back", async () => {
    const fixture = await createFixture();
    const { filesystem } = fixture.section;
    await fixture.evaluate("Talk.");
    const before = await filesystem.snapshot();
    await filesystem.writeText("x/y/z.txt", "z");
    expect(await runCode(fixture, FOLDERS)).toBe("['p', 'x']\n");
    await filesystem.restore(before);
    expect(await runCode(fixture, FOLDERS)).toBe("['p']\n");
    expect(await filesystem.exists("x")).toBe(false);
  });

  it("is unpacked correctly where a folder existed briefly", async () => {
    const fixture = await createFixture();
    const { filesystem } = fixture.section;
    await fixture.evaluate("Talk.");
    await filesystem.delete("p/a.txt");
    await filesystem.mkdir("p/a.txt");
    await filesystem.delete("p/a.txt");
    await filesystem.writeText("p/a.txt", "one\n");
    await filesystem.writeText("p/b.txt", "two\n");
    await fixture.evaluate("Talk.");
    expect(fixture.findEvents("UnpackingFailed")).toEqual([]);
  });

  it("of an empty folder is repeated in the replacement container", async () => {
    const fixture = await createFixture();
    const { filesystem } = fixture.section;
    await fixture.evaluate("Talk.");
    await filesystem.mkdir("p/deep/empty");
    await fixture.calls.remove(fixture.section.containerId ?? "");
    expect(await runCode(fixture, `print(os.listdir("p/deep"))`)).toBe("['empty']\n");
    expect(await filesystem.isDir("p/deep/empty")).toBe(true);
  });
});

describe.skipIf(!hasBubblewrap)("a change by code", () => {
  it.each(["bootstrap", "files"] as const)(
    "in a failed request is still fetched, with unpack %j",
    async (unpack) => {
      const fixture = await createFixture({ unpack });
      let hasRun = false;
      const refusal = { status: 400, json: { error: { message: "No.", param: "x" } } };
      fixture.relay.respondWith((request) =>
        hasRun && isConversationRequest(request) ? refusal : null,
      );
      fixture.relay.injectFault({
        on: /responses/,
        matches: isConversationRequest,
        when: "after",
        act: async () => {
          hasRun = true;
        },
      });
      await expect(
        runCode(fixture, `open(at("p/a.txt"), "w").write("code's") and None`),
      ).rejects.toThrow("400: No");
      expect(await fixture.section.filesystem.readText("p/a.txt")).toBe("code's");
    },
  );

  it("does not delete a file whose new version could not be fetched", async () => {
    const fixture = await createFixture({ unpack: "files" });
    let isRefusing = true;
    const refusal = { status: 403, json: { error: { message: "No." } } };
    fixture.relay.respondWith(({ path }) =>
      isRefusing && path.endsWith("/content") ? refusal : null,
    );
    const move = `os.rename(at("p/a.txt"), "/mnt/data/b.txt")`;
    await runCode(fixture, move);
    await fixture.calls.remove(fixture.section.containerId ?? "");
    const there = `print(open(at("p/a.txt")).read(), end="")`;
    expect(await runCode(fixture, there)).toBe("one\n");
    isRefusing = false;
    await runCode(fixture, move);
    const { filesystem } = fixture.section;
    expect([await filesystem.glob("*"), await filesystem.readText("b.txt")]).toEqual([
      ["b.txt"],
      "one\n",
    ]);
  });

  it("is fetched later if a file could not be fetched at first", async () => {
    const fixture = await createFixture({ unpack: "files" });
    let isRefusing = true;
    const refusal = { status: 403, json: { error: { message: "No." } } };
    fixture.relay.respondWith(({ path }) =>
      isRefusing && path.endsWith("/content") ? refusal : null,
    );
    await runCode(fixture, `os.rename(at("p/a.txt"), "/mnt/data/b.txt")`);
    isRefusing = false;
    expect(await fixture.section.filesystem.glob("*")).toEqual(["b.txt"]);
  });

  it.each(["bootstrap", "files"] as const)(
    "can be reverted through the file system, with unpack %j",
    async (unpack) => {
      const fixture = await createFixture({ unpack });
      const { filesystem } = fixture.section;
      await runCode(
        fixture,
        `os.makedirs("out")\nopen("out/b.txt", "w").write("b")\nopen("c.txt", "w").write("c") and None`,
      );
      await filesystem.delete("out/b.txt");
      await filesystem.writeText("c.txt", "mine");
      const left = `print(sorted(os.listdir("out")), open(at("c.txt")).read())`;
      expect(await runCode(fixture, left)).toBe("[] mine\n");
      expect(await filesystem.glob("*")).toEqual(["c.txt", "p/a.txt"]);
    },
  );
});

describe.skipIf(!hasBubblewrap)("a container that the provider creates", () => {
  it("is replaced by one with the files that were fetched from it", async () => {
    const section = { mounts: [], containerConfig: { mode: "auto" } } as const;
    const fixture = await createFixture(section);
    await runCode(fixture, `open("made.txt", "w").write("made") and None`);
    const first = fixture.section.containerId;
    expect(fixture.relay.requests.some(({ path }) => path === "/containers")).toBe(false);
    await fixture.calls.remove(first ?? "");
    expect(await runCode(fixture, `print(open("made.txt").read())`)).toBe("made\n");
    expect(fixture.findEvents("ContainerReplaced")).toMatchObject([
      { containerId: first, replacedBy: fixture.section.containerId, restored: 1 },
    ]);
  });
});

describe.skipIf(!hasBubblewrap)("the note about files that could not be unpacked", () => {
  it("is sent once in every conversation", async () => {
    const fixture = await createFixture();
    const nothing = {
      id: "resp_1",
      object: "response",
      status: "completed",
      output: [],
      usage: null,
    };
    fixture.relay.respondWith((request) =>
      isWorkspaceRequest(request) ? { status: 200, json: nothing } : null,
    );
    for (const _ of [1, 2]) {
      expect(await runCode(fixture, `print(open(at("p/a.txt")).read(), end="")`)).toBe("one\n");
    }
    const told = fixture.relay.requests
      .filter(isConversationRequest)
      .map(({ text }) => text.split("are not in folders").length - 1);
    expect(told).toEqual([1, 1]);
    expect(fixture.findEvents("UnpackingFailed")).toHaveLength(1);
  });
});
