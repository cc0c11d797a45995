import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codeInterpreterTool, type EgressReport, Tool, ToolResult } from "weakincentives";
import type { ModelScript } from "weakincentives/local";
import {
  createInterceptionFixture,
  type InterceptedRequest,
} from "../support/workspace/interception-fixture.ts";
import { createRepository } from "../support/workspace/workspace-fixture.ts";

const hash = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const text = (content: string) => new TextEncoder().encode(content);
const hashLatin1 = (text: string) => hash(Buffer.from(text, "latin1"));

/** Writes a file locally, then runs code, then answers. */
const script: ModelScript = ({ items }) => {
  const types = items.map((item) => Object(item).type);
  if (!types.includes("function_call_output")) return [{ call: { name: "note", args: {} } }];
  if (!types.includes("code_interpreter_call")) return [{ code: "print(1)" }];
  return [{ say: "Done." }];
};

const note = new Tool({
  ...{ name: "note", description: "Writes a note.", params: null },
  handler: async (_, { filesystem }) => {
    await filesystem?.write("notes/new.txt", text("a note"));
    await filesystem?.write("data/a.txt", text("changed"));
    return ToolResult.ok(null, "Written.");
  },
});

const createMounts = () => [
  { hostPath: createRepository({ "a.txt": "one", "sub/b.txt": "two" }), mountPath: "data" },
  { hostPath: `${createRepository({ "c.txt": "three" })}/c.txt`, mountPath: "c.txt" },
];

/** The body, or the file in a form's body. */
function readSent({ text }: InterceptedRequest): string {
  const file = /\r\nContent-Disposition: [^\r]*filename=.*?\r\n\r\n(.*)\r\n--[^\r]*--\r\n$/s;
  return file.exec(text)?.[1] ?? text;
}

const toLines = ({ requests }: EgressReport) =>
  requests.map(({ endpoint, bytes, sha256 }) => [endpoint, bytes, sha256]);

const toSeen = (requests: readonly InterceptedRequest[]) =>
  requests.map((request) => {
    const sent = readSent(request);
    return [`${request.method} ${request.path}`, sent.length, hashLatin1(sent)];
  });

describe.each(["bootstrap", "prompt", "files"] as const)(
  "the egress report, with files unpacked by %s",
  (unpack) => {
    test("has every request, with the hash of each body or file that the provider received", async () => {
      const stage = await createInterceptionFixture(script);
      const section = stage.createSection({ mounts: createMounts(), unpack });
      const { egress } = await stage.evaluate(section, { tools: [note] });
      const sort = (lines: readonly (readonly unknown[])[]) => lines.map(String).sort();
      expect(sort(toLines(egress))).toEqual(sort(toSeen(stage.seenRequests)));
      expect(egress.verdict).toBe("stored at the provider");
    });

    test("names the files that each upload has, by mount", async () => {
      const stage = await createInterceptionFixture(script);
      const section = stage.createSection({ mounts: createMounts(), unpack });
      const { egress } = await stage.evaluate(section, { tools: [note] });
      const uploads = egress.requests.filter(({ files }) => files.length > 0);
      const files = uploads.flatMap((upload) => upload.files);
      const sorted = files.map(({ mount, path, sha256 }) => `${mount} ${path} ${sha256}`).sort();
      expect(sorted).toEqual(
        [
          `. notes/new.txt ${hash("a note")}`,
          `c.txt . ${hash("three")}`,
          `data a.txt ${hash("one")}`,
          `data a.txt ${hash("changed")}`,
          `data sub/b.txt ${hash("two")}`,
        ].sort(),
      );
      expect(
        uploads.every(({ endpoint }) => /^POST \/containers\/\w+\/files$/.test(endpoint)),
      ).toBe(true);
    });
  },
);

describe("the egress report", () => {
  test("has the files of a stored archive once, with the request that stores it", async () => {
    const stage = await createInterceptionFixture([[{ code: "print(1)" }], [{ say: "Done." }]]);
    const big = Buffer.alloc(5 * 2 ** 20, 7); // hashed in a thread
    const mounts = [{ hostPath: createRepository({ "big.bin": big }), mountPath: "data" }];
    const { egress } = await stage.evaluate(stage.createSection({ mounts }));
    const stored = egress.requests.find(({ endpoint }) => endpoint === "POST /files");
    expect(stored).toMatchObject({
      files: [{ mount: "data", path: "big.bin", sha256: hash(big) }],
      stored: true,
    });
    const seen = stage.seenRequests.find(({ path }) => path === "/files");
    expect(stored?.sha256).toBe(seen && hashLatin1(readSent(seen)));
    expect(egress.requests.filter(({ files }) => files.length > 0)).toHaveLength(1);
  });

  test("says with zero data retention that a workspace is stored until it is cleaned up", async () => {
    const adapter = { compaction: { zdrMode: true } };
    const stage = await createInterceptionFixture(script, { adapter });
    const section = stage.createSection({ mounts: createMounts() });
    const response = await stage.evaluate(section, { tools: [note] });
    await section.cleanup(); // before the report is read
    expect(response.egress.verdict).toBe("stored at the provider");
    expect(response.egress.requests.some(({ endpoint }) => endpoint.startsWith("DELETE"))).toBe(
      false,
    );
  });

  test("says with zero data retention that nothing is stored of a tool's own mounts", async () => {
    const adapter = { compaction: { zdrMode: true }, hostedTools: null };
    const stage = await createInterceptionFixture([[{ code: "print(1)" }], [{ say: "Done." }]], {
      adapter,
    });
    const container = {
      type: "auto",
      hostMounts: createMounts(),
      allowedHostRoots: "any",
    } as const;
    const hostedTools = [codeInterpreterTool({ container })];
    const { egress } = await stage.evaluate([], { hostedTools });
    expect(egress.verdict).toBe("nothing stored");
    expect(egress.requests.flatMap(({ files }) => files)).toHaveLength(3);
    expect(egress.requests.at(-1)?.endpoint).toMatch(/^DELETE \/containers\//);
  });
});
