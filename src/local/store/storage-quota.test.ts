import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFile } from "openai";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { LocalProvider } from "weakincentives/local";
import { hostSandbox } from "../../../tests/support/host-sandbox.ts";
import { startLocalStorage } from "../../../tests/support/local-storage.ts";
import { chooseMaxStoredBytes } from "./choose-max-stored-bytes.ts";

const LIMITS = { timeoutMs: 5000, maxOutputBytes: 10_000 };

test("chooseMaxStoredBytes() leaves a fifth of the disk free", () => {
  const readDisk = (bavail: number) => () => ({ bavail, bsize: 4096 });
  expect(chooseMaxStoredBytes("/", 7, readDisk(1000))).toBe(7 + 4096 * 800);
  expect(chooseMaxStoredBytes("/", 7, readDisk(10 ** 12))).toBe(100 * 2 ** 30);
  expect(chooseMaxStoredBytes("/", 7, readDisk(0))).toBe(7);
});

describe("maxStoredBytes", () => {
  it("counts uploads and files in containers, and frees what is deleted", async () => {
    await using api = await startLocalStorage({ maxStoredBytes: 100 });
    const upload = (bytes: number) =>
      toFile(Buffer.alloc(bytes), "a").then((file) =>
        api.client.files.create({ file, purpose: "user_data" }),
      );
    const first = await upload(40);
    const { id } = await api.containers.create({ name: "a", fileIds: [first.id] });
    await expect(upload(21)).rejects.toMatchObject({
      status: 400,
      code: "storage_limit_reached",
      message: expect.stringContaining("raise limits.maxStoredBytes"),
    });
    await expect(api.containers.copyFile(id, first.id)).rejects.toThrow("at most 100 bytes");
    await api.client.files.delete(first.id);
    await upload(60);
  });

  it("refuses runs once code has written more", async () => {
    await using api = await startLocalStorage({ maxStoredBytes: 100 });
    const { id } = await api.containers.create({ name: "a" });
    await api.containers.shell(id, "head -c 200 /dev/zero > big", LIMITS);
    await expect
      .poll(() => api.containers.shell(id, "true", LIMITS).then(() => "ran", String), {
        timeout: 5_000,
      })
      .toContain("at most 100 bytes");
  });

  it.each(["maxInterpreters", "maxContainers", "maxStoredBytes"])(
    "%s must be a positive integer",
    (name) => {
      for (const value of [0, -1, 1.5, Number.NaN, "7"])
        expect(() => new LocalProvider({ limits: { [name]: value } })).toThrow(
          `LocalProvider.limits.${name} must be a positive integer`,
        );
    },
  );

  it("is an option of the provider", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "wink-test-"));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const limits = { maxStoredBytes: 10, maxContainers: 1, maxInterpreters: 1 };
    await using provider = new LocalProvider({ dataDir, sandbox: hostSandbox(), limits });
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new Blob(["x".repeat(11)]), "a.txt");
    const init = { method: "POST", body: form };
    const response = await provider.fetch("http://local/v1/files", init);
    expect(response.status).toBe(400);
    expect(response.headers.get("x-should-retry")).toBe("false");
  });
});
