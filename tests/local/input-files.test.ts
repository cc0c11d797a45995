import { describe, expect, test, vi } from "vitest";
import {
  codeInterpreterTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
} from "weakincentives";
import type { ModelRequest } from "weakincentives/local";
import { uploadFile } from "weakincentives/openai";
import { readRecords } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  findItem,
  type ProviderFixture,
  readOutput,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";
import { clients } from "../support/openai-clients.ts";
import { startExample } from "../support/specs/example-run.ts";
import { temporaryTree } from "../support/temporary-tree.ts";
import { createWorkspaceFixture, hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

vi.setConfig({ testTimeout: 60_000 });

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const auto = { type: "code_interpreter", container: { type: "auto" } };
const toData = (text: string, type = "text/plain") =>
  `data:${type};base64,${Buffer.from(text).toString("base64")}`;
const createFile = (filename: string | null, text: string) => ({
  type: "input_file",
  ...(filename !== null && { filename }),
  file_data: toData(text),
});
const createMessage = (...content: readonly object[]) => ({
  type: "message",
  role: "user",
  content,
});

/** Prints every file at the top of the container with its text, sorted by name. */
const list = `import os
for name in sorted(os.listdir("/mnt/data")):
    print(name, repr(open("/mnt/data/" + name, errors="replace").read()) if os.path.isfile(name) else "-")`;

/** A model that runs the code in the last message once, and then answers. */
const runLast = ({ items, text }: ModelRequest) => {
  const last = items.at(-1) as WireItem;
  return last["type"] === "code_interpreter_call" ? [{ say: "Done." }] : [{ code: text }];
};

async function start(options: Parameters<typeof startProviderFixture>[1] = {}) {
  const on = await startProviderFixture(runLast, { sandbox: "bubblewrap", ...options });
  return { ...on, ...createRunner(on) };
}

function createRunner({ respond }: ProviderFixture) {
  return {
    /** Runs code after these parts, and returns the response and the lines it printed. */
    async run(code: string, parts: readonly object[] = [], more: WireItem = {}) {
      const { input = [], ...fields } = more;
      const response = await respond({
        tools: [auto],
        include: ["code_interpreter_call.outputs"],
        ...fields,
        input: [
          ...(input as object[]),
          createMessage(...parts, { type: "input_text", text: code }),
        ],
      });
      const call = readOutput(response).findLast(({ type }) => type === "code_interpreter_call");
      const logs = readRecords(call ?? {}, "outputs").map((part) => part["logs"]);
      return { response, lines: logs.join("").split("\n").slice(0, -1) };
    },
  };
}

async function upload({ fetch, url }: ProviderFixture, name: string, text: string) {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new File([text], name));
  const answer = await fetch(`${url}/files`, { method: "POST", body: form });
  return String(((await answer.json()) as WireItem)["id"]);
}

describe.skipIf(!hasBubblewrap).each(clients)("A prompt's attachments, over %s", (_, reach) => {
  test("are in /mnt/data under their names when code runs", async () => {
    const folder = temporaryTree({ "sales.csv": "day,loaves\nMon,12\n", "notes.txt": "by id" });
    const code = `${list}\nprint(open("/mnt/data/image.png", "rb").read()[1:4])`;
    const on = await startExample(reach, { script: [[{ code }], [{ say: "Done." }]] });
    const adapter = on.adapter();
    const { id } = await uploadFile(adapter.client, `${folder}/notes.txt`);
    const python = codeInterpreterTool();
    const section = new MarkdownSection({
      key: "t",
      title: "T",
      template: "Sum.",
      hostedTools: [python],
    });
    const prompt = new Prompt(
      new PromptTemplate({ ns: "t", key: "t", sections: [section] }),
    ).attach(
      { fileId: id },
      { path: `${folder}/sales.csv` },
      { bytes: new TextEncoder().encode("{}"), filename: "plan.json" },
      { imageUrl: `data:image/png;base64,${PNG}` },
    );
    const response = await adapter.evaluate(prompt, { session: new Session() });
    expect(response.hostedOutputs.get(python)?.stdout.split("\n")).toEqual([
      expect.stringMatching(/^image\.png /),
      "notes.txt 'by id'",
      "plan.json '{}'",
      "sales.csv 'day,loaves\\nMon,12\\n'",
      "b'PNG'",
      "",
    ]);
  });
});

describe.skipIf(!hasBubblewrap)("Files in a request's input", () => {
  test.each(["auto with file_ids", "explicit"])("are in a container that is %s", async (kind) => {
    const on = await start();
    const id = await upload(on, "ids.txt", "in file_ids");
    const { body } = await on.ask("POST /containers", { name: "mine", file_ids: [id] });
    const container = kind === "explicit" ? String(body["id"]) : { type: "auto", file_ids: [id] };
    const tools = [{ type: "code_interpreter", container }];
    const { lines, response } = await on.run(list, [createFile("a.txt", "A")], { tools });
    expect(lines).toEqual(["a.txt 'A'", `${id}-ids.txt 'in file_ids'`]);
    const { container_id: at } = findItem(response, "code_interpreter_call");
    const { body: files } = await on.ask(`GET /containers/${at}/files`);
    expect(files["data"]).toContainEqual(
      expect.objectContaining({ path: "/mnt/data/a.txt", source: "user", bytes: 1 }),
    );
  });

  test("are copied once: later turns keep changes by code, chained or replayed", async () => {
    const on = await start();
    const parts = [createFile("a.txt", "A"), createFile("b.txt", "B"), createFile("c.txt", "C")];
    const change =
      "import os\nopen('/mnt/data/a.txt', 'a').write('!')\nos.remove('/mnt/data/b.txt')";
    const first = await on.run(change, parts);
    const chained = await on.run(list, [createFile("d.txt", "D")], {
      previous_response_id: first.response["id"],
    });
    const expected = ["a.txt 'A!'", "c.txt 'C'", "d.txt 'D'"];
    expect(chained.lines).toEqual(expected);
    const history = [
      createMessage(...parts, { type: "input_text", text: change }),
      ...readOutput(first.response),
      createMessage(createFile("d.txt", "D")),
    ];
    const replayed = await on.run(list, parts, { input: history, store: false });
    expect(replayed.lines).toEqual(expected);
  });

  test("are copied once even if the provider restarts", async () => {
    const dataDir = temporaryTree({});
    const before = await start({ dataDir });
    const { response } = await before.run("open('/mnt/data/a.txt', 'a').write('!')", [
      createFile("a.txt", "A"),
    ]);
    await before.provider[Symbol.asyncDispose]();
    const after = await start({ dataDir });
    const { lines } = await after.run(list, [], { previous_response_id: response["id"] });
    expect(lines).toEqual(["a.txt 'A!'"]);
  });

  test("never replace another file with the same name", async () => {
    const on = await start();
    const id = await upload(on, "a.txt", "third");
    const { lines, response } = await on.run(list, [
      createFile("a.txt", "first"),
      createFile("a.txt", "second"),
      { type: "input_file", file_id: id },
      createFile("a.txt", "first"),
    ]);
    expect(lines).toHaveLength(3);
    expect(lines).toContain("a.txt 'first'");
    expect(lines).toContain(`${id}-a.txt 'third'`);
    expect(lines).toContainEqual(expect.stringMatching(/^[0-9a-f]{32}-a\.txt 'second'$/));
    const made = await on.run("open('/mnt/data/made.txt', 'w').write('mine')", [], {
      previous_response_id: response["id"],
    });
    const later = await on.run(
      "print(open('/mnt/data/made.txt').read())",
      [createFile("made.txt", "x")],
      {
        previous_response_id: made.response["id"],
      },
    );
    expect(later.lines).toEqual(["mine"]);
  });

  test.each([
    ["../../../escaped.txt", "escaped.txt"],
    ["/etc/passwd", "passwd"],
    ["C:\\Windows\\win.ini", "win.ini"],
    ["..", "file"],
    ["", "file"],
    [null, "file"],
    ["a\u0000b\n.txt", "a_b_.txt"],
    [`${"ä".repeat(200)}.csv`, `${"ä".repeat(88)}.csv`],
    [".hidden", ".hidden"],
    ['it\'s $(x) & "y".txt', 'it\'s $(x) & "y".txt'],
  ])("named %j are stored as %j", async (filename, name) => {
    const { run } = await start();
    const check = `import os\nprint(os.listdir("/mnt/data") == [${JSON.stringify(name)}])`;
    const { lines } = await run(check, [createFile(filename, "x")]);
    expect(lines).toEqual(["True"]);
  });

  test("do not follow a link that code left under their name", async () => {
    const { run } = await start();
    const target = temporaryTree({ "host.txt": "untouched" });
    const plant = `import os\nos.symlink(${JSON.stringify(`${target}/host.txt`)}, "/mnt/data/a.txt")\nos.mkdir("/mnt/data/b.txt")`;
    const first = await run(plant);
    const { lines } = await run(
      'import os, glob\nprint(os.path.islink("/mnt/data/a.txt"), sorted(open(f).read() for f in glob.glob("/mnt/data/*-?.txt")))',
      [createFile("a.txt", "A"), createFile("b.txt", "B")],
      { previous_response_id: first.response["id"] },
    );
    expect(lines).toEqual(["True ['A', 'B']"]);
  });

  test("are also read from function outputs, and skipped if they cannot be read", async () => {
    const on = await start();
    const input = [
      { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [createFile("tool.txt", "T")] },
    ];
    const { lines } = await on.run(
      list,
      [
        { type: "input_file", file_id: "file-unknown" },
        { type: "input_file", file_url: "https://example.com/a.pdf" },
        { type: "input_image", image_url: "https://example.com/a.png" },
        { type: "input_file", filename: "odd.txt", file_data: "data:text/plain,a%20b" },
        {
          type: "input_file",
          filename: "bare.txt",
          file_data: Buffer.from("c").toString("base64"),
        },
        { type: "input_file", filename: "bad.txt", file_data: "data:text/plain,%zz" },
        { type: "input_image", image_url: toData("jpeg", "image/jpeg") },
      ],
      { input },
    );
    expect(lines).toEqual([
      "bad.txt '%zz'",
      "bare.txt 'c'",
      "image.jpg 'jpeg'",
      "odd.txt 'a b'",
      "tool.txt 'T'",
    ]);
  });

  test("are there for shell commands too", async () => {
    const on = await startProviderFixture(
      [[{ shell: ["cat /mnt/data/a.txt"] }], [{ say: "Done." }]],
      { sandbox: "bubblewrap" },
    );
    const response = await on.respond({
      input: [createMessage(createFile("a.txt", "A"))],
      tools: [{ type: "shell", environment: { type: "container_auto" } }],
    });
    expect(findItem(response, "shell_call_output")["output"]).toMatchObject([{ stdout: "A" }]);
  });

  test("are in the container of a workspace, beside its own files", async () => {
    const mount = temporaryTree({ "mounted.txt": "M" });
    const { adapter, createSection, session } = await createWorkspaceFixture([
      [{ code: "print(open('/mnt/data/a.txt').read(), open('/mnt/data/m/mounted.txt').read())" }],
      [{ say: "Done." }],
    ]);
    const section = createSection({
      mounts: [{ hostPath: mount, mountPath: "m" }],
      allowedHostRoots: [mount],
    });
    const template = new PromptTemplate({ ns: "t", key: "t", sections: [section] });
    const bytes = new TextEncoder().encode("A");
    const prompt = new Prompt(template).attach({ bytes, filename: "a.txt" });
    const response = await adapter.evaluate(prompt, { session });
    expect(response.hostedOutputs.get("code_interpreter")).toMatchObject({ stdout: "A M\n" });
  });
});
