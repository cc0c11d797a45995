import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createCodeRunner } from "../support/workspace/code-runner.ts";
import {
  createRepository,
  hasBubblewrap,
  readFiles,
} from "../support/workspace/workspace-fixture.ts";

const MEMORY = "the memory of running code";

const mountFiles = (files: Readonly<Record<string, string>> = { "a.txt": "one" }) => [
  { hostPath: createRepository(files), mountPath: "p" },
];

const CREATE_ODD = `os.symlink("a.txt", "p/link")
os.symlink("/etc", "p/folder-link")
open("p/tab\\there", "w").write("1")
open("p/new\\nline", "w").write("1")
open("p/bell\\x07", "w").write("1")
open("p/back\\\\slash", "w").write("1")
open(b"p/bad\\xff", "w").write("1")
os.mkfifo("p/pipe")
os.makedirs("p/odd\\tfolder/in")
os.makedirs(b"p/bad\\xfefolder")
open("p/kept.txt", "w").write("kept")`;

const ODD = [
  "p/back\\slash",
  "p/bad\\xfefolder",
  "p/bad\\xff",
  "p/bell\x07",
  "p/folder-link",
  "p/link",
  "p/new\nline",
  "p/odd\tfolder",
  "p/odd\tfolder/in",
  "p/pipe",
  "p/tab\there",
];

describe.skipIf(!hasBubblewrap)("entries that cannot be copied from a lost container", () => {
  it("are listed in the event and named to the model, once", async () => {
    const options = { mounts: mountFiles(), syncPolicy: "eachTurn" } as const;
    const { fixture, section, run, loseContainer, readLastRequest } =
      await createCodeRunner(options);
    await run(CREATE_ODD);
    await loseContainer();
    expect(await run(`print(sorted(os.listdir("p")))`)).toBe("['a.txt', 'kept.txt']\n");
    const [{ lost, restored } = { lost: [], restored: 0 }] = fixture.bus.of("ContainerReplaced");
    expect([lost[0], restored]).toEqual([MEMORY, 2]);
    expect(lost.slice(1).toSorted()).toEqual(ODD);
    const request = readLastRequest();
    expect(request).not.toContain("The files are unchanged");
    for (const path of ODD) expect(request).toContain(JSON.stringify(path));

    await run(`print("again")`);
    expect(readLastRequest()).not.toContain("was replaced");
    await loseContainer();
    await run(`print("again")`);
    expect(fixture.bus.of("ContainerReplaced").at(-1)?.lost).toEqual([MEMORY]);
    expect(readLastRequest()).toContain("The files are unchanged.");
    expect(readFiles(section.tempDir)).toEqual({ "p/a.txt": "one", "p/kept.txt": "kept" });
  });

  it("include a mounted file that code replaced with a symlink", async () => {
    const options = { mounts: mountFiles(), syncPolicy: "eachTurn" } as const;
    const { fixture, run, loseContainer } = await createCodeRunner(options);
    await run(`os.remove("p/a.txt"); os.symlink("/etc/hostname", "p/a.txt")`);
    await loseContainer();
    expect(await run(`print(os.path.islink("p/a.txt"), open("p/a.txt").read())`)).toBe(
      "False one\n",
    );
    expect(fixture.bus.of("ContainerReplaced")[0]?.lost).toEqual([MEMORY, "p/a.txt"]);
  });

  it("are shortened for the model if there are many", async () => {
    const options = { mounts: mountFiles(), syncPolicy: "eachTurn" } as const;
    const { fixture, run, loseContainer, readLastRequest } = await createCodeRunner(options);
    await run(`for n in range(1500): os.symlink("x", f"p/link{n:04}")`);
    await loseContainer();
    await run("pass");
    const [{ lost } = { lost: [] }] = fixture.bus.of("ContainerReplaced");
    expect([lost.length, lost.at(-1)]).toEqual([1_002, "500 other files"]);
    const request = readLastRequest();
    expect(request.match(/"p\/link\d+"/g)).toHaveLength(20);
    expect(request).toContain(" and 1480 more");
  });

  it("are not listed if the changes of code were never downloaded, but those are", async () => {
    const { fixture, run, loseContainer, readLastRequest } = await createCodeRunner({
      mounts: mountFiles(),
    });
    await run(CREATE_ODD);
    await loseContainer();
    await run("pass");
    const work = "changes that code made to files since the last download";
    expect(fixture.bus.of("ContainerReplaced")[0]?.lost).toEqual([MEMORY, work]);
    expect(readLastRequest()).toContain("later changes by code are lost");
  });

  it.each(["prompt", "files"] as const)(
    "are described in general if the provider does not list them, with unpack %j",
    async (unpack) => {
      const options = { mounts: mountFiles(), syncPolicy: "eachTurn", unpack } as const;
      const { fixture, run, loseContainer, readLastRequest } = await createCodeRunner(options);
      await run(`os.symlink("a", "link"); os.mkdir("empty")`);
      await loseContainer();
      await run("pass");
      const general =
        "file modes, empty folders and symlinks that code made, which the provider does not list";
      expect(fixture.bus.of("ContainerReplaced")[0]?.lost).toEqual([MEMORY, general]);
      const request = readLastRequest();
      expect(request).not.toContain("The files are unchanged");
      expect(request).toContain("File modes, empty folders and symlinks");
    },
  );

  it("are not mentioned if no code ran", async () => {
    const { fixture, section, loseContainer, run } = await createCodeRunner({
      ...{ mounts: mountFiles(), unpack: "files" },
    });
    await fixture.evaluate(section, { task: "Talk." });
    await loseContainer();
    await run("pass");
    expect(fixture.bus.of("ContainerReplaced")[0]?.lost).toEqual([MEMORY]);
  });
});

describe.skipIf(!hasBubblewrap)("mounted files with control characters in their names", () => {
  const NAMES = { "tab\there.txt": "1", "new\nline.txt": "2", "back\\slash": "3", "é\x07": "4" };

  it.each(["bootstrap", "prompt", "files"] as const)(
    "are changed by code, read and synced, with unpack %j",
    async (unpack) => {
      const names = unpack === "files" ? { "tab\there.txt": "1", "new\nline.txt": "2" } : NAMES;
      const mounts = mountFiles(names);
      const { fixture, section, run, loseContainer } = await createCodeRunner({
        ...{ mounts, unpack, syncPolicy: "eachTurn" },
      });
      const paths = Object.keys(names).map((name) => `p/${name}`);
      const list = JSON.stringify(paths).replaceAll("$", "$$");
      const change = `for path in ${list}: open(at(path), "a").write("!")`;
      await run(change);
      expect(await section.filesystem.readText("p/tab\there.txt")).toBe("1!");
      await loseContainer();
      const print = `print([open(at(path)).read() for path in ${list}])`;
      const texts = Object.values(names).map((text) => `'${text}!'`);
      expect(await run(print)).toBe(`[${texts.join(", ")}]\n`);
      const lost = fixture.bus.of("ContainerReplaced")[0]?.lost ?? [];
      expect(lost.filter((entry) => entry.startsWith("p/"))).toEqual([]);
      await run(`os.remove(at("p/tab\\there.txt"))`);
      const report = await section.cleanup();
      expect(report).toMatchObject({ added: [], deleted: ["p/tab\there.txt"], failed: [] });
      expect(report.changed.toSorted()).toEqual(
        paths.filter((path) => !path.includes("tab")).toSorted(),
      );
      expect(readFiles(report.directory ?? "")["p/new\nline.txt"]).toBe("2!");
    },
  );

  it("cannot be used to write to another path", async () => {
    const { section, run } = await createCodeRunner({ mounts: mountFiles(NAMES) });
    await run(`import json
real = json.dumps
def forged(value, **named):
    if isinstance(value, dict) and "renamed" in value:
        value["renamed"] = {name: "../../../evil.txt" for name in value["renamed"]}
    return real(value, **named)
json.dumps = forged
open("p/tab\\there.txt", "a").write("!")`);
    expect(await section.filesystem.readText("p/tab\there.txt")).toBe("1!"); // from the file list
    expect(existsSync(join(section.tempDir, "../../../evil.txt"))).toBe(false);
  });
});

describe.skipIf(!hasBubblewrap)("empty folders that code makes", () => {
  it("are in the mirror and in the replacement container", async () => {
    const options = { mounts: mountFiles(), syncPolicy: "eachTurn" } as const;
    const { section, run, loseContainer } = await createCodeRunner(options);
    await run(`os.makedirs("p/empty/deep"); os.makedirs("gone")`);
    expect(await section.filesystem.isDir("p/empty/deep")).toBe(true);
    await run(`os.rmdir("gone")`);
    expect(readdirSync(section.tempDir)).toEqual(["p"]);
    await loseContainer();
    expect(await run(`print(os.listdir("p/empty"), os.path.exists("gone"))`)).toBe(
      "['deep'] False\n",
    );
  });
});
