import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import * as z from "zod";
import { definePrompt } from "../../prompt/define-prompt.ts";
import type { Agent } from "./load-agent.ts";
import { PipedInput } from "./piped-input.ts";
import { readParams } from "./read-params.ts";
import { RunPrinter } from "./run-printer.ts";

const prompt = definePrompt({
  name: "baker",
  instructions: "Bake $kind.",
  params: z.object({ kind: z.string() }),
});
const agent: Agent = { kind: "prompt", prompt };

test("a silent pipe is reported, and the params of the flags are used", async () => {
  let err = "";
  const output = { writableLength: 0, write: (text: string) => (err += text) };
  const printer = new RunPrinter(output, { json: false });
  using input = new PipedInput(new PassThrough(), { isExpected: false, waitMs: 1 });
  const read = await readParams({ params: ["kind=rye"] }, agent, { input, printer });
  expect(read).toEqual({ params: { kind: "rye" }, isGiven: true });
  expect(err).toBe(
    "Standard input is open and has sent nothing, so it is not read. Use --params - to wait for it.\n",
  );
});
