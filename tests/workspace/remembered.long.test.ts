import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type BentStage, bentStage, ownRequest } from "../support/workspace/bent-stage.ts";
import { hasBubblewrap, repository } from "../support/workspace/stage.ts";

const FILES = { "a.txt": "one\n", "d/b.txt": "two\n", "d/c.txt": "three\n" };

/** A workspace with these files, in which each evaluation runs the next code in `/mnt/data/p`. */
async function running(...codes: readonly string[]) {
  const turns = codes.flatMap((code) => [
    [{ code: `import os, sys\nos.chdir("/mnt/data/p")\n${code}\nNone` }],
    [{ say: "Done." }],
  ]);
  const stage = await bentStage(turns);
  const mounts = [{ hostPath: repository(FILES), mountPath: "p" }];
  const section = stage.section({ mounts });
  return { stage, section, files: section.filesystem };
}

/** How often Python was asked since, and how often it was told what is known. */
async function asked(stage: BentStage, work: () => Promise<unknown>) {
  const before = stage.seen.length;
  await work();
  const since = stage.seen.slice(before);
  const isList = /filename="wink-[^"]+\.json"/;
  return {
    runs: since.filter(ownRequest).length,
    lists: since.filter(({ text }) => isList.test(text)).length,
  };
}

const CHANGE = `open("a.txt", "a").write("more\\n")
open("d/new.txt", "w").write("new\\n")
os.remove("d/c.txt")`;

const MEMORY = "sys.wink_7c1e";

/** As if the changed file had been there from the start. */
const FALSIFIED = `import hashlib
${MEMORY}["p/a.txt"] = hashlib.sha256(open("a.txt", "rb").read()).hexdigest()`;

describe.skipIf(!hasBubblewrap)("what the interpreter remembers", () => {
  it("saves telling it what was unpacked, and what the last look found", async () => {
    const { stage, section, files } = await running(
      CHANGE,
      `open("d/new.txt", "w").write("newer")`,
    );
    await stage.evaluate(section);
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.exists("p/d/c.txt")).toBe(false);
    await stage.evaluate(section);
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.readText("p/d/new.txt")).toBe("newer");
  });

  it("takes in what is written through us, and what is deleted", async () => {
    const { stage, section, files } = await running(
      "pass",
      CHANGE.replace('os.remove("d/c.txt")', ""),
    );
    await stage.evaluate(section);
    await files.writeText("p/mine.txt", "mine");
    await files.delete("p/d/c.txt");
    await stage.evaluate(section);
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.readText("p/mine.txt")).toBe("mine");
    expect(await files.exists("p/d/c.txt")).toBe(false);
  });

  it.each([
    ["was thrown away", `del ${MEMORY}`],
    ["is that of another time", `${MEMORY}.clear()`],
    ["says that what was changed was always so", FALSIFIED],
    ["went with a process that was killed", "os.kill(os.getpid(), 9)"],
  ])("is not relied on where it %s: all is told again", async (_, code) => {
    const { stage, section, files } = await running(`${CHANGE}\n${code}`);
    await stage.evaluate(section);
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 2, lists: 1 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.readText("p/d/new.txt")).toBe("new\n");
    expect(await files.exists("p/d/c.txt")).toBe(false);
  });

  it("is not relied on where it is no list at all", async () => {
    const spoilt = `${MEMORY} = 7`;
    const { stage, section, files } = await running(spoilt, `${CHANGE}\n${spoilt}`);
    await stage.evaluate(section);
    await files.writeText("p/mine.txt", "mine");
    await stage.evaluate(section);
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 2, lists: 1 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.readText("p/mine.txt")).toBe("mine");
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
  });

  it("is not relied on a second time where a look did not agree with itself", async () => {
    const { stage, section, files } = await running(CHANGE);
    await stage.evaluate(section);
    let looks = 0;
    stage.bend(async (request) => {
      if (!ownRequest(request) || looks++ > 0) return null;
      const { status, body } = await request.answer();
      return { status, body: String(body).replace(/wink:[0-9a-f]{64}/, `wink:${"0".repeat(64)}`) };
    });
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 2, lists: 1 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
  });

  it("is more than is known where something could not be taken over, which is found again", async () => {
    const { stage, section, files } = await running(`open("x", "w").write("x")`, "pass");
    await stage.evaluate(section);
    mkdirSync(join(section.tempDir, "p/x"));
    writeFileSync(join(section.tempDir, "p/x/in-the-way"), "");
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.isDir("p/x")).toBe(true);
    rmSync(join(section.tempDir, "p/x"), { recursive: true });
    await stage.evaluate(section);
    expect(await asked(stage, () => files.exists("p"))).toEqual({ runs: 1, lists: 1 });
    expect(await files.readText("p/x")).toBe("x");
  });
});

describe("a look at what code did", () => {
  it("finds a file whose size and times are as they were", async () => {
    const { stage, section, files } = await running(`before = os.stat("a.txt")
open("a.txt", "w").write("two\\n")
os.utime("a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))`);
    await stage.evaluate(section);
    expect(await files.readText("p/a.txt")).toBe("two\n");
  });

  it("brings files of any size, byte for byte", async () => {
    const { stage, section, files } =
      await running(`for size in [0, 1, 511, 512, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20 + 7]:
    open(f"{size}.bin", "wb").write(bytes(range(251)) * (size // 251) + bytes(size % 251))`);
    await stage.evaluate(section);
    for (const size of [0, 1, 511, 512, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 3 * 2 ** 20 + 7]) {
      const whole = Buffer.from(Array.from({ length: 251 }, (_, byte) => byte));
      const times = Math.floor(size / 251);
      const wanted = Buffer.concat([...Array(times).fill(whole), Buffer.alloc(size % 251)]);
      const bytes = Buffer.from(await files.readBytes(`p/${size}.bin`));
      expect([size, bytes.equals(wanted)]).toEqual([size, true]);
    }
  });
});
