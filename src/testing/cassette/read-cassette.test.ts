import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCassetteFolder } from "../../../tests/support/cassette/cassette-fixture.ts";
import { cassette } from "./cassette.ts";
import { readCassette } from "./read-cassette.ts";

const header = '{"cassette":1,"version":"0.2.0","recordedAt":"2026-01-01T00:00:00Z"}';
const blob =
  '{"blob":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","text":"a"}';
const sha = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

const request = { method: "GET", path: "/a", headers: {}, body: null };
const response = {
  status: 200,
  headers: {},
  body: { text: "a" },
  chunks: [[0, 1]],
  ended: "complete",
};
const line = (changes: object = {}) =>
  JSON.stringify({ exchange: 1, atMs: 0, request, outcome: { response }, ...changes });
const withResponse = (changes: object) =>
  line({ outcome: { response: { ...response, ...changes } } });
const withBody = (body: unknown) => line({ request: { ...request, body } });

function write(...lines: readonly string[]): string {
  const path = join(createCassetteFolder(), "run.jsonl");
  writeFileSync(path, lines.map((one) => `${one}\n`).join(""));
  return path;
}

describe("readCassette", () => {
  test("reads every kind of line, and sorts the exchanges", async () => {
    const failure = {
      name: "TypeError",
      message: "m",
      code: "C",
      cause: { name: "Error", message: "n" },
    };
    const file = { name: "f", filename: "a.txt", type: "", blob: sha, bytes: 1 };
    const lines = [
      line({ exchange: 3, outcome: { failure } }),
      withBody({ form: [{ name: "a", value: "b" }, file] }),
      line({
        exchange: 2,
        outcome: "canceled",
        request: { ...request, body: { blob: sha, bytes: 1 } },
      }),
      line({
        exchange: 4,
        outcome: { response: { ...response, body: null, chunks: [], ended: failure } },
      }),
    ];
    const path = write(header, blob, ...lines, '{"end":true,"exchanges":4}');
    const { exchanges, header: read } = await readCassette(path);
    expect(exchanges.map(({ exchange }) => exchange)).toEqual([1, 2, 3, 4]);
    expect(exchanges[2]?.outcome).toEqual({ failure });
    expect(read.version).toBe("0.2.0");
  });

  test.each([
    ["is not JSON", "{"],
    ["is not a JSON object", "[]"],
    ["is not a JSON object", `{"a":${"[".repeat(2000)}${"]".repeat(2000)}}`],
    ["its content does not have its SHA-256", blob.replace('"a"}', '"b"}')],
    ["it has no content", '{"blob":"x"}'],
    ["exchange must be an integer of 1 or more", line({ exchange: 0 })],
    ["atMs must be an integer", line({ atMs: 1.5 })],
    ["request must be an object", line({ request: 1 })],
    ["request.path must start with /", line({ request: { ...request, path: "http://evil" } })],
    ["request.method must be a string", line({ request: { ...request, method: 1 } })],
    ["request.headers must be an object", line({ request: { ...request, headers: [] } })],
    [
      "request.headers must be headers of HTTP",
      line({ request: { ...request, headers: { "a b": "c\n" } } }),
    ],
    ["request.body must be an object", withBody(1)],
    ["request.body.form must be an array", withBody({ form: 1 })],
    ["form[] must be an object", withBody({ form: [1] })],
    ["form[].blob must be", withBody({ form: [{ name: "a", filename: "b", text: "c" }] })],
    [
      "a body refers to content that no earlier line has",
      withBody({ blob: "0".repeat(64), bytes: 1 }),
    ],
    ["outcome must be an object", line({ outcome: 1 })],
    ["outcome.response must be an object", line({ outcome: {} })],
    ["failure.name must be a string", line({ outcome: { failure: {} } })],
    ["response.status must be an integer of 200 or more", withResponse({ status: 101 })],
    ["response.status must be an integer from 200 to 599", withResponse({ status: 600 })],
    ["response.chunks must be an array", withResponse({ chunks: 1 })],
    ["response.chunks[][0] must be an integer", withResponse({ chunks: [1] })],
    ["response.chunks must add up to the length of the body", withResponse({ chunks: [[0, 2]] })],
    ["response.chunks must add up to the length of the body", withResponse({ body: null })],
    ["failure must be an object", withResponse({ ended: "maybe" })],
  ])("refuses a line: %s", async (problem, bad) => {
    const path = write(header, bad, '{"end":true,"exchanges":1}');
    await expect(readCassette(path)).rejects.toThrow(
      `Line 2 of ${path} is not a line of a cassette: `,
    );
    await expect(readCassette(path)).rejects.toThrow(problem);
  });

  test("refuses a failure with endless causes", async () => {
    let failure: object = { name: "a", message: "b" };
    for (let depth = 0; depth < 20; depth++) failure = { name: "a", message: "b", cause: failure };
    await expect(readCassette(write(header, line({ outcome: { failure } })))).rejects.toThrow(
      "too many causes",
    );
  });

  test.each([
    ["the first line must be the header", '{"session":1}'],
    ["its format is 2, and this version of weakincentives reads 1", '{"cassette":2}'],
    ["the header has no version or date", '{"cassette":1,"version":"1","recordedAt":"x"}'],
    ["it is not JSON", "\u0000\u0001ELF"],
  ])("refuses a foreign file: %s", async (problem, first) => {
    await expect(readCassette(write(first))).rejects.toThrow(problem);
  });

  test.each([[[header]], [[header, line()]], [[header, '{"end":true,"exchanges":1}']], [[]]])(
    "refuses the incomplete file %j",
    async (lines) => {
      await expect(readCassette(write(...lines))).rejects.toThrow(
        "is incomplete: its last line is missing",
      );
    },
  );

  test("refuses lines after the end, and numbers that occur twice", async () => {
    const end = '{"end":true,"exchanges":1}';
    await expect(readCassette(write(header, line(), end, line()))).rejects.toThrow(
      "it follows the last line",
    );
    await expect(readCassette(write(header, line(), line(), end))).rejects.toThrow(
      "its number occurs twice",
    );
  });

  test("refuses a missing file, a folder, an unreadable path and a huge file, with a remedy", async () => {
    const folder = createCassetteFolder();
    await expect(readCassette(join(folder, "a"))).rejects.toThrow('Record it with mode: "record"');
    mkdirSync(join(folder, "b"));
    await expect(readCassette(join(folder, "b"))).rejects.toThrow("is not a file");
    symlinkSync("loop", join(folder, "loop"));
    await expect(readCassette(join(folder, "loop"))).rejects.toThrow("cannot be read");
    writeFileSync(join(folder, "huge"), "");
    truncateSync(join(folder, "huge"), 600 * 1024 * 1024);
    await expect(readCassette(join(folder, "huge"))).rejects.toThrow(
      "has 629145600 bytes. Only at most 536870912",
    );
  });

  test("reads lines with any characters, long lines, and a last line without a line feed", async () => {
    const text = `\u2028\u2029\r\u0085${"ä".repeat(200_000)}`;
    const bytes = Buffer.byteLength(text);
    const path = write(header, withResponse({ body: { text }, chunks: [[0, bytes]] }));
    appendFileSync(path, '{"end":true,"exchanges":1}');
    const { exchanges } = await readCassette(path);
    expect(exchanges[0]?.outcome).toMatchObject({ response: { body: { text } } });
  });

  test("keeps __proto__ in bodies as data", async () => {
    const echo = async () => new Response("ok");
    const path = join(createCassetteFolder(), "run.jsonl");
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"__proto__":{"a":1}}',
    };
    const tape = cassette(path, { mode: "record", fetch: echo });
    await (await tape.fetch("http://h/a", init)).text();
    await tape.close();
    expect(readFileSync(path, "utf8")).toContain('{"__proto__":{"a":1}}');
    await using again = cassette(path);
    expect(await (await again.fetch("http://h/a", init)).text()).toBe("ok");
  });
});
