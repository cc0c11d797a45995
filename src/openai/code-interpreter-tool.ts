import { checkOptions } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { integerCheck, optional } from "../tools/config-checks.ts";
import {
  type AutoContainerConfig,
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  checkContainer,
  type ExistingContainerRef,
} from "../tools/hosted/code-interpreter.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import type { ToolHandler } from "../tools/tool-context.ts";

/** Options of the `OpenAICodeInterpreterTool` constructor. */
export interface OpenAICodeInterpreterToolOptions {
  /** The tool's name, unique within a prompt. @default "code_interpreter" */
  readonly name?: string | undefined;
  /** @default "Executes Python code that the model writes, in a sandboxed container." */
  readonly description?: string | undefined;
  /** The container that runs the code. @default a new container */
  readonly container?: AutoContainerConfig | ExistingContainerRef | undefined;
  /** Longest run of one call, in seconds; see `CodeInterpreterConfig.timeoutSeconds`. @default 30 */
  readonly timeoutSeconds?: number | undefined;
  /** Turns the code's output into a result. If omitted, `handler` does. */
  readonly handleProviderOutput?:
    | ToolHandler<CodeInterpreterResult, CodeInterpreterResult>
    | null
    | undefined;
  /** Processes the code's output, which it reads from `context.providerOutput`. */
  readonly handler?: ToolHandler<null, CodeInterpreterResult> | null | undefined;
}

const toolKeys: KnownKeys<OpenAICodeInterpreterToolOptions> = {
  container: true,
  description: true,
  handleProviderOutput: true,
  handler: true,
  name: true,
  timeoutSeconds: true,
};

/**
 * OpenAI's code interpreter as a tool with output hooks. It has no params: the model writes code.
 *
 * @example
 * ```ts
 * import { MarkdownSection, ToolResult } from "weakincentives";
 * import { OpenAICodeInterpreterTool } from "weakincentives/openai";
 *
 * const python = new OpenAICodeInterpreterTool({
 *   container: { type: "auto" },
 *   handleProviderOutput: (output) => ToolResult.ok(output, output.stdout),
 * });
 * const section = new MarkdownSection({
 *   key: "task",
 *   title: "Task",
 *   template: "Compute 2**100 with Python.",
 *   tools: [python],
 * });
 * ```
 */
export class OpenAICodeInterpreterTool extends ProviderTool<
  null,
  CodeInterpreterResult,
  CodeInterpreterConfig
> {
  /** The container with defaults filled in; `config.container` has the value that was passed. */
  readonly container: AutoContainerConfig | ExistingContainerRef;

  constructor(options: OpenAICodeInterpreterToolOptions = {}) {
    checkKnownKeys(
      checkOptions(options, "OpenAICodeInterpreterTool"),
      new.target.name,
      toolKeys,
      PromptValidationError,
    );
    const {
      name = "code_interpreter",
      description = "Executes Python code that the model writes, in a sandboxed container.",
      container,
      timeoutSeconds,
      handleProviderOutput,
      handler,
    } = options;
    super({
      name,
      description,
      params: null,
      provider: "openai",
      kind: "code_interpreter",
      config: {
        ...(container !== undefined && { container }),
        ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      },
      handleProviderOutput,
      handler,
    });
    const resolved = container === undefined ? ({ type: "auto" } as const) : container;
    checkContainer(resolved, `OpenAICodeInterpreterTool "${this.name}" container`);
    optional(integerCheck(1))(
      timeoutSeconds,
      `OpenAICodeInterpreterTool "${this.name}" timeoutSeconds`,
    );
    const { memoryLimit = "1g" } = resolved;
    this.container = copyAndFreeze("type" in resolved ? { ...resolved, memoryLimit } : resolved);
    if (new.target === OpenAICodeInterpreterTool) Object.freeze(this);
  }
}
