import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import {
  type ContainerEnvironment,
  type LocalEnvironment,
  type ShellConfig,
  type ShellExecutor,
  type ShellLive,
  type ShellResult,
  type ShellToolOptions,
  shellTool,
} from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { renameConfigError } from "../../tools/rename-config-error.ts";
import {
  mergeOptions,
  NativeToolSection,
  type NativeToolSectionOptions,
  nativeToolSectionKeys,
} from "./native-tool-section.ts";

/** Options of the `OpenAIShellSection` constructor. */
export interface OpenAIShellSectionOptions
  extends NativeToolSectionOptions,
    Pick<ShellToolOptions, "needsApproval"> {
  /** The tool's config. @default commands run in a container at OpenAI */
  readonly defaultParams?: ShellConfig | undefined;
  /** Runs the commands. Required in a local environment, and only allowed there. */
  readonly executor?: ShellExecutor | undefined;
}

const keys: KnownKeys<OpenAIShellSectionOptions> = {
  ...nativeToolSectionKeys,
  defaultParams: true,
  executor: true,
  needsApproval: true,
};

/** Lets the model run shell commands in a container at OpenAI, or locally with `executor`. */
export class OpenAIShellSection extends NativeToolSection<
  ResolvedShellConfig,
  HostedTool<ShellConfig, ShellResult, ShellLive>
> {
  readonly #options: OpenAIShellSectionOptions;

  constructor(options: OpenAIShellSectionOptions = {}) {
    checkKnownKeys(options, "OpenAIShellSection", keys, PromptValidationError);
    const { key = "openai_shell", ...rest } = options;
    super({ ...rest, key, title: "Shell" }, (section) => {
      const given = { config: `${section} defaultParams`, options: `${section} ` };
      const { defaultParams, executor, needsApproval } = options;
      const tool = renameConfigError(given, () =>
        shellTool(defaultParams, { executor, needsApproval }),
      );
      const { environment = { type: "container" } } = tool.config;
      return { defaultParams: { environment }, tool };
    });
    const { tool, nativeTools } = this;
    this.#options = { ...options, key, defaultParams: tool.config, nativeTools };
  }

  /**
   * Creates a copy; `options` override the original's. `defaultParams` is replaced as a whole. The
   * executor is retained only if the copy's environment is local.
   */
  override clone(options: OpenAIShellSectionOptions = {}): this {
    checkKnownKeys(options, "OpenAIShellSection", keys, PromptValidationError);
    const maker: unknown = this.constructor;
    if (maker !== OpenAIShellSection) return super.clone(options);
    const merged = mergeOptions(this.#options, options);
    const isLocal = merged.defaultParams?.environment?.type === "local";
    const executor = isLocal ? merged.executor : options.executor;
    return new OpenAIShellSection({ ...merged, executor }) as this;
  }
}

interface ResolvedShellConfig {
  readonly environment: ContainerEnvironment | LocalEnvironment;
}
