import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import {
  type CodeInterpreterConfig,
  type CodeInterpreterResult,
  codeInterpreterTool,
  DEFAULT_TIMEOUT_SECONDS,
} from "../../tools/hosted/code-interpreter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { renameConfigError } from "../../tools/rename-config-error.ts";
import {
  mergeOptions,
  NativeToolSection,
  type NativeToolSectionOptions,
  nativeToolSectionKeys,
} from "./native-tool-section.ts";

/** Options of the `OpenAICodeInterpreterSection` constructor. */
export interface OpenAICodeInterpreterSectionOptions extends NativeToolSectionOptions {
  /** The tool's config. @default Python in a new container, or in the workspace's */
  readonly defaultParams?: CodeInterpreterConfig | undefined;
}

const keys: KnownKeys<OpenAICodeInterpreterSectionOptions> = {
  ...nativeToolSectionKeys,
  defaultParams: true,
};

/** Lets the model write and run Python in a container at OpenAI. */
export class OpenAICodeInterpreterSection extends NativeToolSection<
  CodeInterpreterConfig & {
    readonly allowedLanguages: readonly string[];
    readonly timeoutSeconds: number;
  },
  HostedTool<CodeInterpreterConfig, CodeInterpreterResult>
> {
  readonly #options: OpenAICodeInterpreterSectionOptions;

  constructor(options: OpenAICodeInterpreterSectionOptions = {}) {
    checkKnownKeys(options, "OpenAICodeInterpreterSection", keys, PromptValidationError);
    const { key = "openai_code_interpreter", ...rest } = options;
    super({ ...rest, key, title: "Code interpreter" }, (section) => {
      const config = `${section} defaultParams`;
      const tool = renameConfigError({ config }, () => codeInterpreterTool(options.defaultParams));
      // The defaults have no container: with a workspace, code runs in the workspace's container.
      const { allowedLanguages = ["python"], timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } =
        tool.config;
      return { defaultParams: { ...tool.config, allowedLanguages, timeoutSeconds }, tool };
    });
    const { tool, nativeTools } = this;
    this.#options = { ...options, key, defaultParams: tool.config, nativeTools };
  }

  /** Creates a copy; `options` override the original's. `defaultParams` is replaced as a whole. */
  override clone(options: OpenAICodeInterpreterSectionOptions = {}): this {
    checkKnownKeys(options, "OpenAICodeInterpreterSection", keys, PromptValidationError);
    const maker: unknown = this.constructor;
    if (maker !== OpenAICodeInterpreterSection) return super.clone(options);
    return new OpenAICodeInterpreterSection(mergeOptions(this.#options, options)) as this;
  }
}
