import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { WorkspaceProgressed } from "weakincentives";
import { quickClock } from "../support/quick-clock.ts";
import { createInterceptionFixture } from "../support/workspace/interception-fixture.ts";
import { createRepository } from "../support/workspace/workspace-fixture.ts";

const FILE_BYTES = 4_000_000;

/** Checks that the bytes of each transfer only rise, and returns its steps with their last events. */
function readSteps(events: readonly WorkspaceProgressed[]) {
  const last = new Map<string, WorkspaceProgressed>();
  for (const event of events) {
    const earlier = last.get(event.step);
    expect(event.totalBytes).toBeGreaterThan(0);
    expect(event.doneBytes).toBeLessThanOrEqual(event.totalBytes);
    if (earlier && earlier.doneBytes < earlier.totalBytes)
      expect(event.doneBytes).toBeGreaterThanOrEqual(earlier.doneBytes);
    last.set(event.step, event);
  }
  return last;
}

describe("WorkspaceProgressed", () => {
  test("is published for every slow part of an upload and of a download", async () => {
    const folder = createRepository({ "large.bin": randomBytes(FILE_BYTES) });
    const code = `open("/mnt/data/p/out.bin", "wb").write(bytes(${FILE_BYTES}))`;
    const stage = await createInterceptionFixture([[{ code }], [{ say: "Done." }]], {
      adapter: { clock: quickClock },
    });
    const section = stage.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      syncOnCleanup: true,
    });
    await stage.evaluate(section);
    const { added } = await section.cleanup();
    expect(added).toEqual(["p/out.bin"]);
    const events = stage.bus.of("WorkspaceProgressed");
    const steps = readSteps(events);
    expect([...steps.keys()]).toEqual(["copy", "pack", "upload", "unpack", "fetch"]);
    for (const { doneBytes, totalBytes } of steps.values()) expect(doneBytes).toBe(totalBytes);
    expect(steps.get("copy")?.totalBytes).toBe(FILE_BYTES);
    expect(steps.get("pack")?.totalBytes).toBeGreaterThan(FILE_BYTES);
    expect(steps.get("upload")?.totalBytes).toBe(steps.get("pack")?.totalBytes);
    expect(events[0]).toMatchObject({
      ...{ sessionId: stage.session.id, promptName: "tests:bent", adapter: "openai" },
      createdAt: expect.stringMatching(/^\d{4}-/),
    });
  });

  test("is published for single files", async () => {
    const folder = createRepository({ "large.txt": randomBytes(FILE_BYTES / 2).toString("hex") });
    const stage = await createInterceptionFixture([[{ say: "Done." }]], {
      adapter: { clock: quickClock },
    });
    const mounts = [{ hostPath: folder, mountPath: "." }];
    await stage.evaluate(stage.createSection({ mounts, unpack: "files" }));
    const steps = readSteps(stage.bus.of("WorkspaceProgressed"));
    expect([...steps.keys()]).toEqual(["copy", "upload"]);
    expect(steps.get("upload")?.doneBytes).toBeGreaterThan(0);
  });

  test("is not published for transfers of less than a second", async () => {
    const stage = await createInterceptionFixture([[{ say: "Done." }]], {
      adapter: { clock: { ...quickClock, sleep: (_, signal) => waitForAbort(signal) } },
    });
    const mounts = [{ hostPath: createRepository({ "a.txt": "1" }), mountPath: "p" }];
    await stage.evaluate(stage.createSection({ mounts }));
    expect(stage.bus.of("WorkspaceProgressed")).toEqual([]);
  });
});

/** Waits until the signal aborts, as if a second never passed. */
async function waitForAbort(signal: AbortSignal | undefined): Promise<void> {
  await new Promise<never>((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });
}
