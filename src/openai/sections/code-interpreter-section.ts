import { checkOptions } from "../../base/names.ts";
import {
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  codeInterpreterTool,
} from "../../tools/hosted/code-interpreter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { madeAs } from "../../tools/made-as.ts";
import {
  NativeToolSection,
  type NativeToolSectionOptions,
  overriding,
} from "./native-tool-section.ts";

/** What an `OpenAICodeInterpreterSection` is made from. */
export interface OpenAICodeInterpreterSectionOptions extends NativeToolSectionOptions {
  readonly defaultParams?: CodeInterpreterConfig | undefined;
}

/** Lets the model run Python of its own in a container at OpenAI. */
export class OpenAICodeInterpreterSection extends NativeToolSection<
  CodeInterpreterConfig & {
    readonly allowedLanguages: readonly string[];
    readonly timeoutSeconds: number;
  },
  HostedTool<CodeInterpreterConfig, CodeInterpreterResult>
> {
  readonly #options: OpenAICodeInterpreterSectionOptions;

  constructor(options: OpenAICodeInterpreterSectionOptions = {}) {
    const { key = "openai_code_interpreter", ...rest } = checkOptions(
      options,
      "OpenAICodeInterpreterSection",
    );
    super({ ...rest, key, title: "Code interpreter" }, (section) => {
      const config = `${section} defaultParams`;
      const tool = madeAs({ config }, () => codeInterpreterTool(options.defaultParams));
      // No container among the defaults: a prompt with a workspace runs code in that one's.
      const { allowedLanguages = ["python"], timeoutSeconds = 30 } = tool.config;
      return { defaultParams: { ...tool.config, allowedLanguages, timeoutSeconds }, tool };
    });
    const { tool, nativeTools } = this;
    this.#options = { ...options, key, defaultParams: tool.config, nativeTools };
  }

  /** The same interpreter, with other options where given; `defaultParams` as a whole. */
  override clone(options: OpenAICodeInterpreterSectionOptions = {}): this {
    const maker: unknown = this.constructor;
    if (maker !== OpenAICodeInterpreterSection) return super.clone(options);
    return new OpenAICodeInterpreterSection(overriding(this.#options, options)) as this;
  }
}
