import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createInterceptionFixture,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "../support/workspace/interception-fixture.ts";
import { createRepository, hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

const FILES = { "a.txt": "one\n", "d/b.txt": "two\n", "d/c.txt": "three\n" };

/** Creates a workspace with these files. Each evaluation runs the next code in `/mnt/data/p`. */
async function createFixture(...codes: readonly string[]) {
  const turns = codes.flatMap((code) => [
    [{ code: `import os, sys\nos.chdir("/mnt/data/p")\n${code}\nNone` }],
    [{ say: "Done." }],
  ]);
  const fixture = await createInterceptionFixture(turns);
  const mounts = [{ hostPath: createRepository(FILES), mountPath: "p" }];
  const section = fixture.createSection({ mounts });
  return { fixture, section, files: section.filesystem };
}

/** Counts the Python runs and the uploaded file lists during `work`. */
async function countRequests(fixture: InterceptionFixture, work: () => Promise<unknown>) {
  const before = fixture.seenRequests.length;
  await work();
  const since = fixture.seenRequests.slice(before);
  const isList = /filename="wink-[^"]+\.json"/;
  return {
    runs: since.filter(isWorkspaceRequest).length,
    lists: since.filter(({ text }) => isList.test(text)).length,
  };
}

const CHANGE = `open("a.txt", "a").write("more\\n")
open("d/new.txt", "w").write("new\\n")
os.remove("d/c.txt")`;

const MEMORY = "sys.wink_7c1e";

/** Makes the changed file look as if it had always been so. */
const FALSIFY = `import hashlib
${MEMORY}["p/a.txt"] = hashlib.sha256(open("a.txt", "rb").read()).hexdigest()`;

describe.skipIf(!hasBubblewrap)("the file list in the interpreter's memory", () => {
  it("saves uploading the list of unpacked and fetched files", async () => {
    const { fixture, section, files } = await createFixture(
      CHANGE,
      `open("d/new.txt", "w").write("newer")`,
    );
    await fixture.evaluate(section);
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.exists("p/d/c.txt")).toBe(false);
    await fixture.evaluate(section);
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.readText("p/d/new.txt")).toBe("newer");
  });

  it("includes writes and deletions through the file system", async () => {
    const { fixture, section, files } = await createFixture(
      "pass",
      CHANGE.replace('os.remove("d/c.txt")', ""),
    );
    await fixture.evaluate(section);
    await files.writeText("p/mine.txt", "mine");
    await files.delete("p/d/c.txt");
    await fixture.evaluate(section);
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.readText("p/mine.txt")).toBe("mine");
    expect(await files.exists("p/d/c.txt")).toBe(false);
  });

  it.each([
    ["was deleted", `del ${MEMORY}`],
    ["was cleared", `${MEMORY}.clear()`],
    ["was falsified", FALSIFY],
    ["was lost with a killed process", "os.kill(os.getpid(), 9)"],
  ])("is replaced by an uploaded list if it %s", async (_, code) => {
    const { fixture, section, files } = await createFixture(`${CHANGE}\n${code}`);
    await fixture.evaluate(section);
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 2, lists: 1 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.readText("p/d/new.txt")).toBe("new\n");
    expect(await files.exists("p/d/c.txt")).toBe(false);
  });

  it("is replaced by an uploaded list if it is not a list", async () => {
    const spoilt = `${MEMORY} = 7`;
    const { fixture, section, files } = await createFixture(spoilt, `${CHANGE}\n${spoilt}`);
    await fixture.evaluate(section);
    await files.writeText("p/mine.txt", "mine");
    await fixture.evaluate(section);
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 2, lists: 1 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
    expect(await files.readText("p/mine.txt")).toBe("mine");
    expect(fixture.bus.of("UnpackingFailed")).toEqual([]);
  });

  it("is replaced by an uploaded list after a response with a wrong digest", async () => {
    const { fixture, section, files } = await createFixture(CHANGE);
    await fixture.evaluate(section);
    let looks = 0;
    fixture.intercept(async (request) => {
      if (!isWorkspaceRequest(request) || looks++ > 0) return null;
      const { status, body } = await request.forward();
      return { status, body: String(body).replace(/wink:[0-9a-f]{64}/, `wink:${"0".repeat(64)}`) };
    });
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 2, lists: 1 });
    expect(await files.readText("p/a.txt")).toBe("one\nmore\n");
  });

  it("is replaced by an uploaded list after a file could not be synced", async () => {
    const { fixture, section, files } = await createFixture(`open("x", "w").write("x")`, "pass");
    await fixture.evaluate(section);
    mkdirSync(join(section.tempDir, "p/x"));
    writeFileSync(join(section.tempDir, "p/x/in-the-way"), "");
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 1, lists: 0 });
    expect(await files.isDir("p/x")).toBe(true);
    rmSync(join(section.tempDir, "p/x"), { recursive: true });
    await fixture.evaluate(section);
    expect(await countRequests(fixture, () => files.exists("p"))).toEqual({ runs: 1, lists: 1 });
    expect(await files.readText("p/x")).toBe("x");
  });
});

describe("fetching the changes of code", () => {
  it("finds a changed file whose size and times are unchanged", async () => {
    const { fixture, section, files } = await createFixture(`before = os.stat("a.txt")
open("a.txt", "w").write("two\\n")
os.utime("a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))`);
    await fixture.evaluate(section);
    expect(await files.readText("p/a.txt")).toBe("two\n");
  });

  it("fetches small and large files byte for byte", async () => {
    const { fixture, section, files } =
      await createFixture(`for size in [0, 1, 511, 512, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20 + 7]:
    open(f"{size}.bin", "wb").write(bytes(range(251)) * (size // 251) + bytes(size % 251))`);
    await fixture.evaluate(section);
    for (const size of [0, 1, 511, 512, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 3 * 2 ** 20 + 7]) {
      const whole = Buffer.from(Array.from({ length: 251 }, (_, byte) => byte));
      const times = Math.floor(size / 251);
      const wanted = Buffer.concat([...Array(times).fill(whole), Buffer.alloc(size % 251)]);
      const bytes = Buffer.from(await files.readBytes(`p/${size}.bin`));
      expect([size, bytes.equals(wanted)]).toEqual([size, true]);
    }
  });
});
