import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createCodeRunner } from "../support/workspace/code-runner.ts";
import {
  createInterceptionFixture,
  type InterceptionFixture,
} from "../support/workspace/interception-fixture.ts";
import { createRepository, hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

type Section = ReturnType<InterceptionFixture["createSection"]>;

const FILES = { "a.txt": "one\n", "run.sh": "#!/bin/sh\n", "d/b.txt": "two\n" };

/** Creates a workspace at `p`, in which `run.sh` is executable. Each evaluation runs the next code there. */
async function createFixture(
  codes: readonly string[],
  options: Parameters<InterceptionFixture["createSection"]>[0] = {},
) {
  const turns = codes.flatMap((code) => [
    [{ code: `import os\nos.chdir("/mnt/data/p")\n${code}\nNone` }],
    [{ say: "Done." }],
  ]);
  const fixture = await createInterceptionFixture(turns);
  const hostPath = createRepository(FILES);
  chmodSync(join(hostPath, "run.sh"), 0o755);
  const section = fixture.createSection({ mounts: [{ hostPath, mountPath: "p" }], ...options });
  return { fixture, section, files: section.filesystem };
}

/** Downloads the changes and returns the modes in the mirror. */
async function readModes(
  section: Section,
  ...paths: readonly string[]
): Promise<readonly string[]> {
  await section.filesystem.exists("p");
  return paths.map((path) => readMode(join(section.tempDir, path)));
}

function readMode(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

const PRINT = `for path in ["a.txt", "run.sh", "d/b.txt"]:
    print(path, oct(os.stat(path).st_mode & 0o7777)[2:])`;

describe.skipIf(!hasBubblewrap)("a mode that code changes", () => {
  it("is downloaded without a change of content, and only its permission bits", async () => {
    const { fixture, section } = await createFixture([
      `os.chmod("a.txt", 0o755); os.chmod("run.sh", 0o640); os.chmod("d/b.txt", 0o6711)`,
      `os.chmod("a.txt", 0o644)`,
    ]);
    await fixture.evaluate(section);
    const paths = ["p/a.txt", "p/run.sh", "p/d/b.txt"];
    expect(await readModes(section, ...paths)).toEqual(["755", "640", "711"]);
    await fixture.evaluate(section);
    expect(await readModes(section, ...paths)).toEqual(["644", "640", "711"]);
  });

  it("is downloaded with new and changed files", async () => {
    const { fixture, section, files } = await createFixture([
      `open("a.txt", "w").write("changed"); os.chmod("a.txt", 0o600)
open("run.sh", "w").write("changed")
for name, mode in [("new.sh", 0o755), ("secret", 0o600), ("shared", 0o664), ("plain", None)]:
    open(name, "w").write(name)
    if mode is not None: os.chmod(name, mode)`,
    ]);
    await fixture.evaluate(section);
    const paths = ["p/a.txt", "p/run.sh", "p/new.sh", "p/secret", "p/shared", "p/plain"];
    expect(await readModes(section, ...paths)).toEqual(["600", "755", "755", "600", "664", "644"]);
    expect(await files.readText("p/a.txt")).toBe("changed");
  });

  it("is restored in a replacement container, and synced to a new folder", async () => {
    const { fixture, section } = await createFixture(
      [`os.chmod("a.txt", 0o750); os.chmod("run.sh", 0o644); os.chmod("d/b.txt", 0o440)`, PRINT],
      { syncPolicy: "eachTurn" },
    );
    await fixture.evaluate(section);
    await fixture.calls.remove(section.containerId ?? "");
    await fixture.evaluate(section);
    expect(fixture.bus.of("ContainerReplaced")).toHaveLength(1);
    expect(fixture.readOutputs().at(-1)).toBe("a.txt 750\nrun.sh 644\nd/b.txt 440\n");
    const { directory, failed } = await section.cleanup();
    expect(failed).toEqual([]);
    const synced = ["p/a.txt", "p/run.sh", "p/d/b.txt"].map((path) =>
      readMode(join(directory ?? "", path)),
    );
    expect(synced).toEqual(["750", "644", "440"]);
  });

  it("is kept by later writes through the file system, also in the container", async () => {
    const { fixture, section, files } = await createFixture([
      `os.chmod("a.txt", 0o750); os.chmod("d/b.txt", 0o750)`,
      PRINT,
    ]);
    await fixture.evaluate(section);
    await files.writeText("p/a.txt", "mine");
    await files.writeText("p/run.sh", "mine");
    await files.delete("p/d/b.txt");
    await files.writeText("p/d/b.txt", FILES["d/b.txt"]);
    await fixture.evaluate(section);
    expect(fixture.readOutputs().at(-1)).toBe("a.txt 750\nrun.sh 755\nd/b.txt 644\n");
    const paths = ["p/a.txt", "p/run.sh", "p/d/b.txt"];
    expect(await readModes(section, ...paths)).toEqual(["750", "755", "644"]);
    expect(fixture.bus.of("UnpackingFailed")).toEqual([]);
  });

  it("does not keep a later write out of the container, and neither does a symlink", async () => {
    const { fixture, section, files } = await createFixture([
      `os.chmod("d/b.txt", 0o444); os.remove("a.txt"); os.symlink("run.sh", "a.txt")`,
      `print(open("a.txt").read(), open("d/b.txt").read(), open("run.sh").read())
print(os.path.islink("a.txt"))`,
    ]);
    await fixture.evaluate(section);
    expect(await readModes(section, "p/d/b.txt")).toEqual(["444"]);
    await files.delete("p/d/b.txt");
    await files.writeText("p/d/b.txt", "mine");
    await files.writeText("p/a.txt", "mine");
    await fixture.evaluate(section);
    expect(fixture.readOutputs().at(-1)).toBe("mine mine #!/bin/sh\n\nFalse\n");
    expect(fixture.bus.of("UnpackingFailed")).toEqual([]);
  });

  it("is found after the interpreter was killed", async () => {
    const { fixture, section } = await createFixture([
      `os.chmod("a.txt", 0o755); os.kill(os.getpid(), 9)`,
    ]);
    await fixture.evaluate(section);
    expect(await readModes(section, "p/a.txt", "p/run.sh")).toEqual(["755", "755"]);
  });

  it("does not change the mirror if the file was written on the host since", async () => {
    const { fixture, section, files } = await createFixture([`os.chmod("a.txt", 0o755)`, PRINT]);
    await fixture.evaluate(section);
    (await section.workspace.load()).touch("p/a.txt");
    expect(await readModes(section, "p/a.txt")).toEqual(["644"]);
    await fixture.evaluate(section);
    expect(fixture.readOutputs().at(-1)).toContain("a.txt 644\n");
    expect(await files.readText("p/a.txt")).toBe("one\n");
  });

  it("leaves a file readable on the host that its owner may not read in the container", async () => {
    const { fixture, section, files } = await createFixture([
      `os.chmod("a.txt", 0o000); open("new.txt", "w").write("new")`,
    ]);
    await fixture.evaluate(section);
    expect(await files.readText("p/a.txt")).toBe("one\n");
    expect(await files.readText("p/new.txt")).toBe("new");
    const { failed } = await files.downloadAll(createRepository({}));
    expect(failed).toMatchObject([{ path: "p/a.txt", reason: expect.stringContaining("denied") }]);
  });
});

describe.skipIf(!hasBubblewrap)("a mode that code did not change", () => {
  it("stays as it is if new files in the container have other modes by default", async () => {
    const { fixture, section } = await createFixture([
      `os.umask(0)
open("plain", "w").write("plain")
os.close(os.open("tool", os.O_CREAT | os.O_WRONLY, 0o777))
open("secret", "w").write("secret"); os.chmod("secret", 0o600)
open("a.txt", "w").write("changed"); os.remove("run.sh"); open("run.sh", "w").write("changed")`,
    ]);
    await fixture.evaluate(section);
    const paths = ["p/plain", "p/tool", "p/secret", "p/a.txt", "p/run.sh"];
    expect(await readModes(section, ...paths)).toEqual(["644", "755", "600", "644", "755"]);
  });

  it("stays as it is if the container does not support modes", async () => {
    const { fixture, section } = await createFixture([
      `open("new.sh", "w").write("new"); os.chmod("new.sh", 0o777); os.chmod("a.txt", 0o777)
os.chmod = lambda *args, **named: None`,
    ]);
    await fixture.evaluate(section);
    const paths = ["p/a.txt", "p/run.sh", "p/new.sh"];
    expect(await readModes(section, ...paths)).toEqual(["644", "755", "755"]);
  });

  it.each(["prompt", "files"] as const)(
    "stays as it is when code changes the file, with unpack %j",
    async (unpack) => {
      const hostPath = createRepository(FILES);
      chmodSync(join(hostPath, "run.sh"), 0o755);
      const mounts = [{ hostPath, mountPath: "p" }];
      const { section, run } = await createCodeRunner({ mounts, unpack });
      await run(`open(at("p/run.sh"), "w").write("changed")`);
      expect(await section.filesystem.readText("p/run.sh")).toBe("changed");
      expect(await readModes(section, "p/run.sh", "p/a.txt")).toEqual(["755", "644"]);
    },
  );

  it('is in the container after the model unpacked the files with unpack "prompt"', async () => {
    const hostPath = createRepository(FILES);
    chmodSync(join(hostPath, "run.sh"), 0o755);
    const { run } = await createCodeRunner({
      ...{ mounts: [{ hostPath, mountPath: "p" }], unpack: "prompt" },
    });
    expect(await run(`os.chdir("p")\n${PRINT}`)).toBe("a.txt 644\nrun.sh 755\nd/b.txt 644\n");
  });
});
