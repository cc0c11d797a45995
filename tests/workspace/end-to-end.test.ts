import { describe, expect, it } from "vitest";
import {
  createRepository,
  createWorkspaceFixture,
  hasBubblewrap,
  readFiles,
} from "../support/workspace/workspace-fixture.ts";

describe("a container workspace", () => {
  it("copies the host's files to the container and syncs the changes back", async () => {
    const folder = createRepository({ "src/a.py": "print('a')\n", "README.md": "# Hello\n" });
    const code = `import os
print(sorted(os.path.join(d, f) for d, _, fs in os.walk("project") for f in fs))
open("project/src/a.py", "w").write("print('b')\\n")
os.remove("project/README.md")
os.makedirs("project/out")
open("project/out/result.txt", "w").write("42") and None`;
    const fixture = await createWorkspaceFixture([[{ code }], [{ say: "Done." }]]);
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "project" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
    });
    expect([section.containerId, await fixture.run(section)]).toEqual([null, "Done."]);
    const call = fixture.events.find(({ type }) => type === "ToolInvoked");
    expect(call).toMatchObject({
      result: { value: { stdout: "['project/README.md', 'project/src/a.py']\n" } },
    });
    const report = await section.cleanup();
    expect(report).toMatchObject({
      added: ["project/out/result.txt"],
      changed: ["project/src/a.py"],
      deleted: ["project/README.md"],
      failed: [],
    });
    expect(readFiles(section.syncedDir ?? "")).toEqual({
      "project/src/a.py": "print('b')\n",
      "project/out/result.txt": "42",
    });
  });

  const UNLISTED =
    "file modes, empty folders and symlinks that code made, which the provider does not list";

  it.skipIf(!hasBubblewrap).each(["bootstrap", "files"] as const)(
    "continues in a new container after its container was deleted, with %s",
    async (unpack) => {
      const folder = createRepository({ "a.txt": "one\n" });
      const find = `import glob, json, os
paths = glob.glob("/mnt/data/*-paths.json")
at = json.load(open(paths[0]))["p/a.txt"] if paths else "/mnt/data/p/a.txt"`;
      const fixture = await createWorkspaceFixture([
        [{ code: `${find}\nopen(at, "a").write("two\\n") and None` }],
        [{ say: "First." }],
        [{ code: `${find}\nprint(open(at).read())` }],
        [{ say: "Second." }],
      ]);
      const section = fixture.createSection({
        mounts: [{ hostPath: folder, mountPath: "p" }],
        allowedHostRoots: "any",
        syncPolicy: "eachTurn",
        unpack,
      });
      expect(await fixture.run(section)).toBe("First.");
      const first = section.containerId ?? "";
      await fixture.calls.remove(first);
      await section.filesystem.writeText("p/b.txt", "three\n");
      expect(await fixture.run(section)).toBe("Second.");
      expect(section.containerId).not.toBe(first);
      const calls = fixture.events.filter(({ type }) => type === "ToolInvoked");
      expect(calls.at(-1)).toMatchObject({ result: { value: { stdout: "one\ntwo\n\n" } } });
      expect(fixture.events.find(({ type }) => type === "ContainerReplaced")).toMatchObject({
        containerId: first,
        replacedBy: section.containerId,
        lost: ["the memory of running code", ...(unpack === "files" ? [UNLISTED] : [])],
      });
      await section.cleanup();
      expect(readFiles(section.syncedDir ?? "")).toEqual({
        "p/a.txt": "one\ntwo\n",
        "p/b.txt": "three\n",
      });
    },
  );

  it('lets the model unpack the files with unpack "prompt"', async () => {
    const folder = createRepository({ "a.txt": "one\n" });
    const fixture = await createWorkspaceFixture(({ text, items: given }) => {
      const items = given as readonly Readonly<Record<string, unknown>>[];
      const whole = items.map((item) => JSON.stringify(item)).join("\n");
      const ran = items.filter(({ type }) => type === "code_interpreter_call").length;
      if (ran === 0)
        return [
          {
            code: findPythonBlock(String(items.find(({ role }) => role === "system")?.["content"])),
          },
        ];
      if (ran === 1) return [{ code: "print(open('p/a.txt').read())" }];
      return [{ say: `${text.length > 0} ${whole.includes("wink:")}` }];
    });
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: "any",
      unpack: "prompt",
      syncOnCleanup: true,
    });
    expect(await fixture.run(section)).toBe("true true");
    expect(fixture.events.some(({ type }) => type === "UnpackingFailed")).toBe(false);
    expect(await section.cleanup()).toMatchObject({ added: [], changed: [], failed: [] });
  });
});

function findPythonBlock(text: string): string {
  return /```python\n([\s\S]*?)\n```/.exec(text)?.[1] ?? "";
}
