import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCassetteFolder, echo } from "../../../tests/support/cassette/cassette-fixture.ts";
import { cassette } from "./cassette.ts";
import { CassetteFile, MAX_BODY_BYTES } from "./cassette-file.ts";

/** Records in another process until its standard input ends. */
const RECORDING_PROGRAM = `
import { cassette } from ${JSON.stringify(new URL("./cassette.ts", import.meta.url))};
const tape = cassette(process.argv[1], { mode: "record", fetch: async () => new Response("hi") });
await (await tape.fetch("http://h/a")).text();
console.log("recorded");
process.stdin.on("end", () => tape.close()).resume();
`;

describe("a cassette that is being recorded", () => {
  test("is refused to a second process, and left as .partial by a process that is killed", async () => {
    const path = join(createCassetteFolder(), "run.jsonl");
    const child = spawn(process.execPath, ["--input-type=module", "-e", RECORDING_PROGRAM, path]);
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const second = cassette(path, { mode: "record", fetch: echo });
    const refusal = `is being recorded by process ${child.pid}. Wait until it has ended`;
    await expect(second.fetch("http://h/a")).rejects.toThrow(refusal);
    await expect(second.close()).rejects.toThrow(refusal);
    await second[Symbol.asyncDispose]();
    await expect.poll(() => readFileSync(`${path}.partial`, "utf8")).toContain('"exchange":1');
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(existsSync(path)).toBe(false);
    const third = cassette(path, { mode: "record", fetch: echo });
    await (await third.fetch("http://h/b")).text();
    await third.close();
    expect(readFileSync(path, "utf8")).toContain('"path":"/b"');
    expect(existsSync(`${path}.partial`)).toBe(false);
  });

  test("is refused to a second cassette of the same process", async () => {
    const path = join(createCassetteFolder(), "run.jsonl");
    await using first = cassette(path, { mode: "record", fetch: echo });
    await (await first.fetch("http://h/a")).text();
    const second = cassette(path, { mode: "record", fetch: echo });
    await expect(second.fetch("http://h/a")).rejects.toThrow(`process ${process.pid}`);
  });

  test("is refused before the first request is sent if the path cannot be written", async () => {
    const folder = createCassetteFolder();
    writeFileSync(join(folder, "file"), "");
    const tape = cassette(join(folder, "file", "run.jsonl"), { mode: "record", fetch: echo });
    await expect(tape.fetch("http://h/a")).rejects.toThrow(
      /cannot be written: .* Check the folder/,
    );
  });

  test("keeps the earlier file and the lines so far if the file cannot be moved to its path", async () => {
    const path = join(createCassetteFolder(), "run.jsonl");
    const tape = cassette(path, { mode: "record", fetch: echo });
    await (await tape.fetch("http://h/a")).text();
    mkdirSync(join(path, "below"), { recursive: true });
    chmodSync(path, 0o700);
    await expect(tape.close()).rejects.toThrow(
      /was not written: .*run\.jsonl\.partial: fix the cause/,
    );
    expect(readFileSync(`${path}.partial`, "utf8")).toContain('"end":true');
  });

  test("does not stop the run if a body is too long, and throws when it is closed", async () => {
    const long = () => new Uint8Array(MAX_BODY_BYTES + 1);
    for (const [problem, answer, body] of [
      ["a response has 67108865 bytes", async () => new Response(long()), null],
      [
        "a request has 67108865 bytes",
        async () => new Response("ok"),
        "x".repeat(MAX_BODY_BYTES + 1),
      ],
    ] as const) {
      const path = join(createCassetteFolder(), "run.jsonl");
      const tape = cassette(path, { mode: "record", fetch: answer });
      const response = await tape.fetch(
        "http://h/a",
        body === null ? {} : { method: "POST", body },
      );
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1);
      await expect(tape.close()).rejects.toThrow(problem);
      expect(existsSync(path)).toBe(false);
    }
  });

  test("stores equal content once, and refuses content that is too long", async () => {
    const path = join(createCassetteFolder(), "run.jsonl");
    const file = await CassetteFile.create(path);
    expect(file.storeBlob(Buffer.from("a"))).toBe(file.storeBlob(Buffer.from("a")));
    file.storeBlob(Uint8Array.of(0xff));
    file.storeBlob(new Uint8Array(MAX_BODY_BYTES + 1));
    await expect(file.finish()).rejects.toThrow("a body has 67108865 bytes");
    const lines = readFileSync(`${path}.partial`, "utf8").trim().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line)).join())).toEqual([
      "cassette,version,recordedAt",
      "blob,text",
      "blob,base64",
    ]);
  });
});
