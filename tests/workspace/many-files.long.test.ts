import { createHash } from "node:crypto";
import { linkSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WorkspaceBudgetExceededError } from "weakincentives/files";
import { createInterceptionFixture } from "../support/workspace/interception-fixture.ts";

const ENTRIES = 100_000;
const TIMEOUT_MS = 300_000;

/** Returns the content of an entry. Most are empty to save disk space; the others differ. */
const createContent = (entry: number) => (entry % 20 === 0 ? `entry ${entry}\n` : "");

/** Creates the entries. Hard links are faster to create than files, and look like separate files. */
function createEntries(folder: string): void {
  for (let entry = 0; entry < ENTRIES; entry++) {
    const at = join(folder, String(entry));
    const empty = entry - (entry % 10_000) + 1; // file systems limit the number of hard links per file
    const isLink = createContent(entry) === "" && entry !== empty;
    if (isLink) linkSync(join(folder, String(empty)), at);
    else writeFileSync(at, createContent(entry));
  }
}

/** Computes the digest of the lines that `sha256sum *` prints, sorted by name. */
function computeDigest(): string {
  const names = Array.from({ length: ENTRIES }, (_, entry) => String(entry)).sort();
  const whole = createHash("sha256");
  for (const name of names) {
    const one = createHash("sha256")
      .update(createContent(Number(name)))
      .digest("hex");
    whole.update(`${one}  ${name}\n`);
  }
  return whole.digest("hex");
}

const DIGEST_CODE = `import hashlib, os
os.chdir("/mnt/data/many")
whole, names = hashlib.sha256(), sorted(os.listdir("."))
for name in names:
    with open(name, "rb") as file:
        whole.update(f"{hashlib.sha256(file.read()).hexdigest()}  {name}\\n".encode())
print(len(names), whole.hexdigest())`;

describe("a mounted folder with 100,000 entries", { timeout: TIMEOUT_MS }, () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "wink-many-"));
    createEntries(folder);
  }, TIMEOUT_MS);

  afterAll(() => rm(folder, { recursive: true }), TIMEOUT_MS);

  it("is copied to the container byte for byte", async () => {
    const provider = { limits: { runTimeoutMs: TIMEOUT_MS } };
    const fixture = await createInterceptionFixture([[{ code: DIGEST_CODE }], [{ say: "Done." }]], {
      provider,
    });
    const section = fixture.createSection({ mounts: [{ hostPath: folder, mountPath: "many" }] });
    expect(section.mountPreviews).toMatchObject([{ files: ENTRIES, withheld: [] }]);
    await fixture.evaluate(section);
    expect(fixture.readOutputs()).toEqual([`${ENTRIES} ${computeDigest()}\n`]);
    expect(fixture.bus.of("UnpackingFailed")).toEqual([]);
  });

  it("is rejected over maxBytes before any request", async () => {
    const fixture = await createInterceptionFixture([]);
    const mounts = [{ hostPath: folder, mountPath: "many", maxBytes: 1_000 }];
    expect(() => fixture.createSection({ mounts })).toThrow(WorkspaceBudgetExceededError);
    expect(() => fixture.createSection({ mounts })).toThrow(
      /is over its maxBytes of 1000: "\d+" brings it to \d+\. Raise maxBytes, or exclude files with excludeGlob\.$/,
    );
    expect(fixture.requests).toEqual([]);
  });
});
