import { readFile } from "node:fs/promises";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { listAgentParams } from "./agent-params.ts";
import type { Agent } from "./load-agent.ts";
import { checkRequired, type GivenJson, parseParams } from "./parse-params.ts";
import type { PipedInput } from "./piped-input.ts";
import type { AgentRunOptions } from "./run-options.ts";
import type { RunPrinter } from "./run-printer.ts";

/** The params of a run. */
export interface ReadParams {
  /** The params of the flags and the JSON: an object, or any JSON as the request of a loop. */
  readonly params: unknown;
  /** Whether the user has passed any. */
  readonly isGiven: boolean;
}

/** Reads the params of an agent from the flags, and from a file or from standard input, which is `null` if it is not used. */
export async function readParams(
  { params: flags, paramsFile }: Pick<AgentRunOptions, "params" | "paramsFile">,
  agent: Agent,
  { input, printer }: { readonly input: PipedInput | null; readonly printer: RunPrinter },
): Promise<ReadParams> {
  const json = input ? await readPiped(input, printer) : await readGiven(paramsFile ?? "");
  const declared = listAgentParams(agent);
  const params = parseParams({ flags, json }, declared);
  const isGiven = flags.length > 0 || json !== undefined;
  if (isGiven || !isBound(agent)) checkRequired(params, declared);
  return { params, isGiven };
}

/** A prompt may be exported with its params bound. */
function isBound(agent: Agent): boolean {
  return agent.kind === "prompt" && agent.prompt.isBound;
}

async function readPiped(input: PipedInput, printer: RunPrinter): Promise<GivenJson | undefined> {
  const text = await input.read();
  if (text === null) printer.note(SILENT_PIPE);
  return text === null || text.trim() === "" ? undefined : { text, field: "standard input" };
}

const SILENT_PIPE =
  "Standard input is open and has sent nothing, so it is not read. Use --params - to wait for it.";

async function readGiven(file: string): Promise<GivenJson> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const rule = `must be a readable file (${getErrorMessage(cause)})`;
    const remedy = "pass the path of a JSON file, or - for standard input";
    throw new InvalidOptionError({ field: "--params", value: file, rule, remedy, cause });
  });
  return { text, field: "--params" };
}
