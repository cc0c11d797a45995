import { expect, test, vi } from "vitest";
import { wasmSandbox } from "../../src/local/sandbox/wasm/wasm-sandbox.ts";
import { findItem, startProviderFixture } from "../support/local/provider-fixture.ts";

vi.setConfig({ testTimeout: 120_000 });

const { usable } = await wasmSandbox().probe();

test.skipIf(!usable)(
  "Files in a request's input are in /mnt/data of the wasm sandbox",
  async () => {
    const { respond } = await startProviderFixture(
      [[{ code: "print(open('/mnt/data/a.txt').read())" }], [{ say: "Done." }]],
      { sandbox: "wasm" },
    );
    const file = {
      type: "input_file",
      filename: "a.txt",
      file_data: "data:text/plain;base64,QQ==",
    };
    const response = await respond({
      input: [{ type: "message", role: "user", content: [file] }],
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      include: ["code_interpreter_call.outputs"],
    });
    const { outputs } = findItem(response, "code_interpreter_call");
    expect(outputs).toEqual([{ type: "logs", logs: "A\n" }]);
  },
);
