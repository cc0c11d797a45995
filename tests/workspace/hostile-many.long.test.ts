import { createHash } from "node:crypto";
import { linkSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WorkspaceBudgetExceededError } from "weakincentives/files";
import { bentStage } from "../support/workspace/bent-stage.ts";

const ENTRIES = 100_000;
const PATIENCE_MS = 300_000;

/** What is in an entry: most are empty, for the disk's sake, and the others differ. */
const contentOf = (entry: number) => (entry % 20 === 0 ? `entry ${entry}\n` : "");

/** Links are made sooner than files, and are files of their own to whoever reads the folder. */
function fill(folder: string): void {
  for (let entry = 0; entry < ENTRIES; entry++) {
    const at = join(folder, String(entry));
    const empty = entry - (entry % 10_000) + 1; // no file may have many more names than that
    const isLink = contentOf(entry) === "" && entry !== empty;
    if (isLink) linkSync(join(folder, String(empty)), at);
    else writeFileSync(at, contentOf(entry));
  }
}

/** As `sha256sum *` would print them, sorted by name. */
function digestOfAll(): string {
  const names = Array.from({ length: ENTRIES }, (_, entry) => String(entry)).sort();
  const whole = createHash("sha256");
  for (const name of names) {
    const one = createHash("sha256")
      .update(contentOf(Number(name)))
      .digest("hex");
    whole.update(`${one}  ${name}\n`);
  }
  return whole.digest("hex");
}

const TELL = `import hashlib, os
os.chdir("/mnt/data/many")
whole, names = hashlib.sha256(), sorted(os.listdir("."))
for name in names:
    with open(name, "rb") as file:
        whole.update(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\\n".encode())
print(len(names), whole.hexdigest())`;

describe("a folder of 100,000 entries", { timeout: PATIENCE_MS }, () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "wink-many-"));
    fill(folder);
  }, PATIENCE_MS);

  afterAll(() => rm(folder, { recursive: true }), PATIENCE_MS);

  it("is in the container as it is here, byte for byte", async () => {
    const provider = { limits: { runTimeoutMs: PATIENCE_MS } };
    const stage = await bentStage([[{ code: TELL }], [{ say: "Done." }]], { provider });
    const section = stage.section({ mounts: [{ hostPath: folder, mountPath: "many" }] });
    expect(section.mountPreviews).toMatchObject([{ files: ENTRIES, withheld: [] }]);
    await stage.evaluate(section);
    expect(stage.printed()).toEqual([`${ENTRIES} ${digestOfAll()}\n`]);
    expect(stage.bus.of("UnpackingFailed")).toEqual([]);
  });

  it("is refused where it is over a limit, which is named with what to do, before anything is sent", async () => {
    const stage = await bentStage([]);
    const mounts = [{ hostPath: folder, mountPath: "many", maxBytes: 1_000 }];
    expect(() => stage.section({ mounts })).toThrow(WorkspaceBudgetExceededError);
    expect(() => stage.section({ mounts })).toThrow(
      /is over its maxBytes of 1000: "\d+" brings it to \d+; raise maxBytes, or leave files out by excludeGlob$/,
    );
    expect(stage.requests).toEqual([]);
  });
});
