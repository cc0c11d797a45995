import { frozenCopy } from "../base/freeze.ts";
import { checkOptions } from "../base/names.ts";
import {
  type AutoContainerConfig,
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  checkContainer,
  type ExistingContainerRef,
} from "../tools/hosted/code-interpreter.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import type { ToolHandler } from "../tools/tool-context.ts";

/** What an `OpenAICodeInterpreterTool` is made from. */
export interface OpenAICodeInterpreterToolOptions {
  /** @default "code_interpreter" */
  readonly name?: string | undefined;
  /** @default that it executes Python which the model writes */
  readonly description?: string | undefined;
  /** Where the code runs. @default a new container */
  readonly container?: AutoContainerConfig | ExistingContainerRef | undefined;
  /** Turns what the code gave into a result. Without it, the handler does. */
  readonly handleProviderOutput?:
    | ToolHandler<CodeInterpreterResult, CodeInterpreterResult>
    | null
    | undefined;
  /** Works on what the code gave: it finds it as `context.providerOutput`. */
  readonly handler?: ToolHandler<null, CodeInterpreterResult> | null | undefined;
}

/** OpenAI's code interpreter as a tool with hooks; it takes no params, the model writes code. */
export class OpenAICodeInterpreterTool extends ProviderTool<
  null,
  CodeInterpreterResult,
  CodeInterpreterConfig
> {
  /** With its defaults; `config.container` is what was given. */
  readonly container: AutoContainerConfig | ExistingContainerRef;

  constructor(options: OpenAICodeInterpreterToolOptions = {}) {
    const {
      name = "code_interpreter",
      description = "Executes Python code that the model writes, in a sandboxed container.",
      container,
      handleProviderOutput,
      handler,
    } = checkOptions(options, "OpenAICodeInterpreterTool");
    super({
      name,
      description,
      params: null,
      provider: "openai",
      kind: "code_interpreter",
      config: container === undefined ? {} : { container },
      handleProviderOutput,
      handler,
    });
    const wanted = container === undefined ? ({ type: "auto" } as const) : container;
    checkContainer(wanted, `OpenAICodeInterpreterTool "${this.name}" container`);
    const { memoryLimit = "1g" } = wanted;
    this.container = frozenCopy("type" in wanted ? { ...wanted, memoryLimit } : wanted);
    if (new.target === OpenAICodeInterpreterTool) Object.freeze(this);
  }
}
