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
const readCalls = (...items: WireItem[]) => codeInterpreterCodec.calls?.(items, tool) ?? [];

const createCall = (id: string, more: object = {}): WireItem => ({
  type: "code_interpreter_call",
  id,
  status: "completed",
  code: "print(1)",
  container_id: "cntr_1",
  outputs: [{ type: "logs", logs: "1" }],
  ...more,
});
const createFileCitation = (container_id: string, filename: string) => ({
  type: "container_file_citation",
  container_id,
  file_id: `cfile_${filename}`,
  filename,
  start_index: 0,
  end_index: 0,
});
const createMessage = (text: string, ...annotations: object[]): WireItem => ({
  type: "message",
  content: [{ type: "output_text", text, annotations }],
});
const trace = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: boom';

describe("codeInterpreterCodec.serialize()", () => {
  test("always sends a container", () => {
    expect(serialize({})).toEqual({ type: "code_interpreter", container: { type: "auto" } });
    expect(serialize({ container: { type: "auto" } })).toEqual({
      type: "code_interpreter",
      container: { type: "auto" },
    });
  });

  test("sends the options of a new container", () => {
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

  test("sends only the id of an existing container", () => {
    expect(serialize({ container: { id: "cntr_9", memoryLimit: "4g" } }, "cntr_1")).toEqual({
      type: "code_interpreter",
      container: "cntr_9",
    });
  });

  test("uses the workspace's container if the config omits it", () => {
    expect(serialize({}, "cntr_1")).toEqual({ type: "code_interpreter", container: "cntr_1" });
    expect(serialize({ container: { type: "auto" } }, "cntr_1")).toEqual({
      type: "code_interpreter",
      container: { type: "auto" },
    });
  });

  test("does not send settings that the API lacks", () => {
    expect(serialize({ timeoutSeconds: 5, allowedLanguages: ["python"] })).toEqual({
      type: "code_interpreter",
      container: { type: "auto" },
    });
  });

  test.each([["javascript"], ["python", "r"], ["Python"]])(
    "rejects the languages %s",
    (...languages) => {
      expect(() => serialize({ allowedLanguages: languages })).toThrow(InvalidOptionError);
      expect(() => serialize({ allowedLanguages: languages })).toThrow(
        `Hosted tool "code_interpreter" config.allowedLanguages must be ["python"], the only language that OpenAI runs, got ${JSON.stringify(languages)}. Omit it, or use the shell tool.`,
      );
    },
  );

  test("never sends host mounts, only the container they were uploaded to", () => {
    const container = { type: "auto", memoryLimit: "4g", hostMounts: [{ hostPath: "a" }] } as const;
    const tool = codeInterpreterTool({ container });
    const serializeWith = (containerId: string | null) =>
      codeInterpreterCodec.serialize(tool, { model: "gpt-5.2", containerId });
    expect(serializeWith(null)).toEqual({
      type: "code_interpreter",
      container: { type: "auto", memory_limit: "4g" },
    });
    expect(serializeWith("cntr_1")).toEqual({ type: "code_interpreter", container: "cntr_1" });
  });
});

test("codeInterpreterCodec.headers() has the timeout of a call, 30 seconds by default", () => {
  const readHeaders = (config: CodeInterpreterConfig) =>
    codeInterpreterCodec.headers?.(codeInterpreterTool(config));
  expect(readHeaders({ timeoutSeconds: 5 })).toEqual({ "x-wink-code-timeout-seconds": "5" });
  expect(readHeaders({})).toEqual({ "x-wink-code-timeout-seconds": "30" });
});

test("codeInterpreterCodec.advice() states the timeout of a call, if it is set", () => {
  const readAdvice = (config: CodeInterpreterConfig) =>
    codeInterpreterCodec.advice?.(codeInterpreterTool(config));
  expect(readAdvice({ timeoutSeconds: 5 })).toBe("Code may run for at most 5 seconds per call.");
  expect(readAdvice({})).toBeNull();
});

test("codeInterpreterCodec.include() requests the outputs", () => {
  expect(codeInterpreterCodec.kind).toBe("code_interpreter");
  expect(codeInterpreterCodec.include?.(tool)).toEqual(["code_interpreter_call.outputs"]);
});

describe("codeInterpreterCodec.parseOutput()", () => {
  test("returns null if no code ran", () => {
    expect(parse()).toBeNull();
    expect(parse(createMessage("Hi", createFileCitation("cntr_1", "a.csv")))).toBeNull();
  });

  test("returns every call, the last call's result and all files", () => {
    const outputs = [
      { type: "logs", logs: "a" },
      { type: "image", url: "data:image/png;base64,AA" },
      { type: "logs", logs: "b\n" },
      { type: "logs", logs: "c" },
    ];
    const files = [createFileCitation("cntr_1", "a.csv"), createFileCitation("cntr_2", "b.csv")];
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
      parse(
        createCall("ci_1"),
        createCall("ci_2", { code: "x", outputs }),
        createMessage("Done.", ...files),
      ),
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

  test("ignores citations that are not files", () => {
    const page = { type: "url_citation", url: "https://a", start_index: 0, end_index: 1 };
    expect(parse(createCall("ci_1"), createMessage("x", page))?.files).toEqual([]);
  });

  test.each([null, undefined, [], "x", [null, {}, { type: "image" }, { type: "logs", logs: 5 }]])(
    "tolerates the outputs %j",
    (outputs) => {
      expect(parse(createCall("ci_1", { outputs }))).toMatchObject({
        stdout: "",
        calls: [{ images: [] }],
      });
    },
  );

  test("tolerates a call without fields", () => {
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

describe("codeInterpreterCodec.calls()", () => {
  test("returns one call per item, with its container's files", () => {
    const first = createCall("ci_1");
    const second = createCall("ci_2", { container_id: "cntr_2", code: null });
    const found = readCalls(
      first,
      second,
      createMessage(
        "Done.",
        createFileCitation("cntr_1", "a.csv"),
        createFileCitation("cntr_2", "b.csv"),
      ),
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

  test("returns all files for a call without a container", () => {
    const [call] = readCalls(
      createCall("ci_1", { container_id: null }),
      createMessage(
        "",
        createFileCitation("cntr_1", "a.csv"),
        createFileCitation("cntr_2", "b.csv"),
      ),
    );
    expect(call).not.toHaveProperty("containerId");
    expect(call?.output?.files).toHaveLength(2);
  });

  test("retains a failed call's output, traceback and files", () => {
    const [call] = readCalls(
      createCall("ci_1", {
        status: "failed",
        outputs: [{ type: "logs", logs: `begun\n${trace}\n` }],
      }),
      createMessage("Sorry.", createFileCitation("cntr_1", "a.csv")),
    );
    expect(call).toMatchObject({
      success: false,
      message: `begun\n${trace}\n`,
      output: { stdout: `begun\n${trace}\n`, stderr: trace, exitCode: 1 },
    });
    expect(call?.output?.files).toHaveLength(1);
  });

  const fine = "all fine\n";
  const exit = "An exception has occurred, use %tb to see the full traceback.\n\nSystemExit: 3";
  const exitZero = "SystemExit: 0";

  test.each([
    ["completed", fine, true, 0, ""],
    ["completed", trace, false, 1, trace],
    ["completed", `begun\n${trace}\n`, false, 1, trace],
    ["completed", `${trace}\nand then it went on`, true, 0, ""],
    ["completed", exit, false, 3, exit],
    ["completed", exitZero, true, 0, ""],
    ["failed", trace, false, 1, trace],
    ["failed", exit, false, 3, exit],
    ["failed", exitZero, false, null, exitZero],
    ["failed", fine, false, null, ""],
    ["failed", `${trace}\nThe interpreter was killed.`, false, null, ""],
    ["incomplete", trace, false, null, trace],
    ["incomplete", fine, false, null, ""],
    ["interpreting", trace, false, null, trace],
    ["interpreting", fine, false, null, ""],
    ["odd", fine, false, null, ""],
    [undefined, fine, false, null, ""],
  ])(
    "derives success and exit code from the status %s and the logs %j",
    (status, logs, success, exitCode, stderr) => {
      const item = createCall("ci_1", { status, outputs: [{ type: "logs", logs }] });
      expect(readCalls(item)).toMatchObject([
        { success, message: logs, output: { exitCode, stderr, stdout: logs } },
      ]);
      expect(parse(item)).toMatchObject({
        exitCode,
        stderr,
        calls: [{ exitCode, stderr, stdout: logs }],
      });
    },
  );

  test("derives the exit code of every call, and reports the last call's for all", () => {
    const run = (id: string, logs: string) => createCall(id, { outputs: [{ type: "logs", logs }] });
    const items = [run("ci_1", trace), run("ci_2", fine), run("ci_3", exit)];
    expect(readCalls(...items).map(({ success }) => success)).toEqual([false, true, false]);
    expect(parse(...items)).toMatchObject({
      exitCode: 3,
      stderr: exit,
      calls: [{ exitCode: 1, stderr: trace }, { exitCode: 0, stderr: "" }, { exitCode: 3 }],
    });
  });

  test("finds a traceback that is split over several logs, with an image between", () => {
    const outputs = [
      { type: "logs", logs: trace.slice(0, trace.indexOf("\n")) },
      { type: "image", url: "data:image/png;base64,AA" },
      { type: "logs", logs: trace.slice(trace.indexOf("\n") + 1) },
    ];
    expect(readCalls(createCall("ci_1", { outputs }))).toMatchObject([
      { success: false, output: { exitCode: 1, stderr: trace } },
    ]);
  });

  test("uses the output as message, then the text, then the status", () => {
    const silent = { outputs: null };
    expect(readCalls(createCall("ci_1"), createMessage("Words."))[0]?.message).toBe("1");
    expect(readCalls(createCall("ci_1", silent), createMessage("Words."))[0]?.message).toBe(
      "Words.",
    );
    expect(readCalls(createCall("ci_1", silent))[0]?.message).toBe("Ran without output");
    expect(readCalls(createCall("ci_1", { ...silent, status: "failed" }))[0]?.message).toBe(
      'Failed (status "failed")',
    );
  });
});
