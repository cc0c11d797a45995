import { isPlainObject } from "../../base/freeze.ts";
import { itemsOfType, recordsAt, textAt } from "../../base/reading.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { failedContainer } from "../errors/failed-container.ts";
import { requestErrorFrom } from "../errors/request-error.ts";
import { HttpClient, type OpenAIClient } from "../http/client.ts";
import { checkedResult } from "../http/result.ts";
import { modelFields, type OpenAIModelConfig } from "../model-config.ts";
import { usageIn } from "../response/response-usage.ts";
import { secretsOf } from "../secrets.ts";

/** What a block printed, and what asking for it cost. */
export interface BlockOutcome {
  readonly output: string;
  readonly usage: TokenUsage;
}

/** Runs one block of Python in a container, as it is. */
export type RunBlock = (
  containerId: string,
  code: string,
  signal: AbortSignal,
) => Promise<BlockOutcome>;

/** With what a block is asked for. */
export interface BlockRunnerSettings {
  readonly client: OpenAIClient;
  readonly model: string;
  readonly modelConfig: OpenAIModelConfig;
  readonly timeoutMs: number;
}

/**
 * The provider runs code only when a model asks it to: this is one short request whose model is
 * made to call the code interpreter, and is given nothing else to do.
 */
export function blockRunner({
  client,
  model,
  modelConfig,
  timeoutMs,
}: BlockRunnerSettings): RunBlock {
  const { maxOutputTokens: _, maxToolCalls: __, ...config } = modelConfig;
  return async (containerId, code, signal) => {
    const text = `Run this Python code once, exactly as it is, and then say "done".\n\n\`\`\`python\n${code}\n\`\`\``;
    const body = {
      model,
      ...modelFields(config),
      input: [{ type: "message", role: "user", content: text }],
      tools: [{ type: "code_interpreter", container: containerId }],
      tool_choice: { type: "code_interpreter" },
      include: ["code_interpreter_call.outputs"],
      ...modelConfig.extraBody,
    };
    const context = { request: "POST /responses", signal, secrets: secretsOf(client) };
    try {
      const options = { maxRetries: 0, signal, timeout: timeoutMs };
      const answer =
        client instanceof HttpClient
          ? (await client.post("/responses", JSON.stringify(body), options)).value
          : await client.responses.create(body, options);
      const response = checkedResult(answer, context);
      const gone = failedContainer(response, context);
      if (gone) throw gone;
      return { output: printedIn(response["output"]), usage: usageIn(response) };
    } catch (thrown) {
      throw requestErrorFrom(thrown, context);
    }
  };
}

/** All that code printed. */
export function printedIn(output: unknown): string {
  const items = Array.isArray(output) ? output.filter(isPlainObject) : [];
  return itemsOfType(items, "code_interpreter_call")
    .flatMap((call) => recordsAt(call, "outputs"))
    .map((part) => textAt(part, "logs"))
    .join("\n");
}
