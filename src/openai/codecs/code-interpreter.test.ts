import { describe, expect, test } from "vitest";
import { InvalidOptionError } from "../../base/errors.ts";
import {
  type CodeInterpreterConfig,
  codeInterpreterTool,
} from "../../tools/hosted/code-interpreter.ts";
import type { WireItem } from "../wire.ts";
import { codeInterpreterCodec } from "./code-interpreter.ts";

const tool = codeInterpreterTool({}, { name: "python" });
const serialize = (config: CodeInterpreterConfig, containerId: string | null = null) =>
  codeInterpreterCodec.serialize(codeInterpreterTool(config), { model: "gpt-5", containerId });
const parse = (...items: WireItem[]) => codeInterpreterCodec.parseOutput(items, tool);
const calls = (...items: WireItem[]) => codeInterpreterCodec.calls?.(items, tool) ?? [];

const run = (id: string, more: object = {}): WireItem => ({
  type: "code_interpreter_call",
  id,
  status: "completed",
  code: "print(1)",
  container_id: "cntr_1",
  outputs: [{ type: "logs", logs: "1" }],
  ...more,
});
const fileOf = (container_id: string, filename: string) => ({
  type: "container_file_citation",
  container_id,
  file_id: `cfile_${filename}`,
  filename,
  start_index: 0,
  end_index: 0,
});
const saying = (text: string, ...annotations: object[]): WireItem => ({
  type: "message",
  content: [{ type: "output_text", text, annotations }],
});
const trace = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: boom';

describe("serialize", () => {
  test("always sends a container", () => {
    expect(serialize({})).toEqual({ type: "code_interpreter", container: { type: "auto" } });
    expect(serialize({ container: { type: "auto" } })).toEqual({
      type: "code_interpreter",
      container: { type: "auto" },
    });
  });

  test("sends what a new container is to have", () => {
    const networkPolicy = {
      type: "allowlist",
      allowedDomains: ["pypi.org"],
      domainSecrets: [{ domain: "pypi.org", name: "TOKEN", value: "s3cret" }],
    } as const;
    const container = {
      type: "auto",
      memoryLimit: "4g",
      fileIds: ["file-1"],
      networkPolicy,
    } as const;
    expect(serialize({ container })).toEqual({
      type: "code_interpreter",
      container: {
        type: "auto",
        memory_limit: "4g",
        file_ids: ["file-1"],
        network_policy: {
          type: "allowlist",
          allowed_domains: ["pypi.org"],
          domain_secrets: [{ domain: "pypi.org", name: "TOKEN", value: "s3cret" }],
        },
      },
    });
  });

  test.each([
    [{ type: "disabled" }, { type: "disabled" }],
    [
      { type: "allowlist", allowedDomains: ["a.com"] },
      { type: "allowlist", allowed_domains: ["a.com"] },
    ],
  ] as const)("sends the network policy %j", (networkPolicy, network_policy) => {
    expect(serialize({ container: { type: "auto", networkPolicy } })).toEqual({
      type: "code_interpreter",
      container: { type: "auto", network_policy },
    });
  });

  test("sends an existing container's id and nothing else of it", () => {
    expect(serialize({ container: { id: "cntr_9", memoryLimit: "4g" } }, "cntr_1")).toEqual({
      type: "code_interpreter",
      container: "cntr_9",
    });
  });

  test("uses the workspace's container where the config names none", () => {
    expect(serialize({}, "cntr_1")).toEqual({ type: "code_interpreter", container: "cntr_1" });
    expect(serialize({ container: { type: "auto" } }, "cntr_1")).toEqual({
      type: "code_interpreter",
      container: { type: "auto" },
    });
  });

  test("does not send what is advice", () => {
    expect(serialize({ timeoutSeconds: 5, allowedLanguages: ["python"] })).toEqual({
      type: "code_interpreter",
      container: { type: "auto" },
    });
  });

  test.each([["javascript"], ["python", "r"], ["Python"]])(
    "refuses %s for languages",
    (...languages) => {
      expect(() => serialize({ allowedLanguages: languages })).toThrow(InvalidOptionError);
      expect(() => serialize({ allowedLanguages: languages })).toThrow(
        `Hosted tool "code_interpreter" config.allowedLanguages must be ["python"], for OpenAI runs no other language, got ${JSON.stringify(languages)}. Leave it out, or use the shell tool`,
      );
    },
  );

  test("files of the host are in a container of their own by then, and never on the wire", () => {
    const container = { type: "auto", memoryLimit: "4g", hostMounts: [{ hostPath: "a" }] } as const;
    const tool = codeInterpreterTool({ container });
    const entry = (containerId: string | null) =>
      codeInterpreterCodec.serialize(tool, { model: "gpt-5.2", containerId });
    expect(entry(null)).toEqual({
      type: "code_interpreter",
      container: { type: "auto", memory_limit: "4g" },
    });
    expect(entry("cntr_1")).toEqual({ type: "code_interpreter", container: "cntr_1" });
  });
});

test("the outputs are asked for", () => {
  expect(codeInterpreterCodec.kind).toBe("code_interpreter");
  expect(codeInterpreterCodec.include?.(tool)).toEqual(["code_interpreter_call.outputs"]);
});

describe("parseOutput", () => {
  test("is null where no code ran", () => {
    expect(parse()).toBeNull();
    expect(parse(saying("Hi", fileOf("cntr_1", "a.csv")))).toBeNull();
  });

  test("has every call, the last one's result first, and all files", () => {
    const outputs = [
      { type: "logs", logs: "a" },
      { type: "image", url: "data:image/png;base64,AA" },
      { type: "logs", logs: "b\n" },
      { type: "logs", logs: "c" },
    ];
    const files = [fileOf("cntr_1", "a.csv"), fileOf("cntr_2", "b.csv")];
    const first = {
      id: "ci_1",
      code: "print(1)",
      stdout: "1",
      stderr: "",
      exitCode: 0,
      images: [],
      containerId: "cntr_1",
      status: "completed",
    };
    expect(
      parse(run("ci_1"), run("ci_2", { code: "x", outputs }), saying("Done.", ...files)),
    ).toEqual({
      text: "Done.",
      code: "x",
      stdout: "a\nb\nc",
      stderr: "",
      exitCode: 0,
      calls: [
        first,
        {
          ...first,
          id: "ci_2",
          code: "x",
          stdout: "a\nb\nc",
          images: ["data:image/png;base64,AA"],
        },
      ],
      files: ["a.csv", "b.csv"].map((filename, index) => ({
        type: "containerFile",
        span: [0, 0],
        containerId: `cntr_${index + 1}`,
        fileId: `cfile_${filename}`,
        filename,
      })),
    });
  });

  test("has no files among other citations", () => {
    const page = { type: "url_citation", url: "https://a", start_index: 0, end_index: 1 };
    expect(parse(run("ci_1"), saying("x", page))?.files).toEqual([]);
  });

  test.each([null, undefined, [], "x", [null, {}, { type: "image" }, { type: "logs", logs: 5 }]])(
    "bears outputs that are %j",
    (outputs) => {
      expect(parse(run("ci_1", { outputs }))).toMatchObject({
        stdout: "",
        calls: [{ images: [] }],
      });
    },
  );

  test("bears a call without any field", () => {
    expect(parse({ type: "code_interpreter_call" })).toEqual({
      text: "",
      code: "",
      stdout: "",
      stderr: "",
      exitCode: null,
      calls: [
        {
          id: "",
          code: "",
          stdout: "",
          stderr: "",
          exitCode: null,
          images: [],
          containerId: "",
          status: "",
        },
      ],
      files: [],
    });
  });
});

describe("calls", () => {
  test("are one for each item, with the files of its container", () => {
    const first = run("ci_1");
    const second = run("ci_2", { container_id: "cntr_2", code: null });
    const found = calls(
      first,
      second,
      saying("Done.", fileOf("cntr_1", "a.csv"), fileOf("cntr_2", "b.csv")),
    );
    expect(found.map(({ callId }) => callId)).toEqual(["ci_1", "ci_2"]);
    expect(found[0]).toMatchObject({
      name: "python",
      kind: "code_interpreter",
      params: { code: "print(1)" },
      success: true,
      message: "1",
      containerId: "cntr_1",
      output: { text: "Done.", calls: [{ id: "ci_1" }], files: [{ filename: "a.csv" }] },
    });
    expect(found[0]?.output?.files).toHaveLength(1);
    expect(found[0]?.raw).toBe(first);
    expect(found[1]).toMatchObject({
      params: {},
      containerId: "cntr_2",
      output: { code: "", files: [{ filename: "b.csv" }] },
    });
    expect(Object.keys(codeInterpreterCodec.params ?? {})).toEqual(["code"]);
  });

  test("without a container of their own have all files", () => {
    const [call] = calls(
      run("ci_1", { container_id: null }),
      saying("", fileOf("cntr_1", "a.csv"), fileOf("cntr_2", "b.csv")),
    );
    expect(call).not.toHaveProperty("containerId");
    expect(call?.output?.files).toHaveLength(2);
  });

  test("that failed keep what they printed, with the trace as their error, and their files", () => {
    const [call] = calls(
      run("ci_1", { status: "failed", outputs: [{ type: "logs", logs: `begun\n${trace}\n` }] }),
      saying("Sorry.", fileOf("cntr_1", "a.csv")),
    );
    expect(call).toMatchObject({
      success: false,
      message: `begun\n${trace}\n`,
      output: { stdout: `begun\n${trace}\n`, stderr: trace, exitCode: 1 },
    });
    expect(call?.output?.files).toHaveLength(1);
  });

  test.each([
    ["completed", true, 0, ""],
    ["failed", false, 1, trace],
    ["incomplete", false, null, trace],
    ["interpreting", false, null, ""],
    ["odd", false, null, ""],
    [undefined, false, null, ""],
  ])("of status %s have success %s and exit code %s", (status, success, exitCode, stderr) => {
    const [call] = calls(run("ci_1", { status, outputs: [{ type: "logs", logs: trace }] }));
    expect(call).toMatchObject({ success, output: { exitCode, stderr, stdout: trace } });
  });

  test("tell what was printed, else what was said, else how it ended", () => {
    const silent = { outputs: null };
    expect(calls(run("ci_1"), saying("Words."))[0]?.message).toBe("1");
    expect(calls(run("ci_1", silent), saying("Words."))[0]?.message).toBe("Words.");
    expect(calls(run("ci_1", silent))[0]?.message).toBe("Ran and printed nothing");
    expect(calls(run("ci_1", { ...silent, status: "failed" }))[0]?.message).toBe(
      'Failed (status "failed")',
    );
  });
});
