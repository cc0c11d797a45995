import { checkOptions } from "../../base/names.ts";
import {
  type ContainerEnvironment,
  type LocalEnvironment,
  type ShellConfig,
  type ShellExecutor,
  type ShellLive,
  type ShellResult,
  shellTool,
} from "../../tools/hosted/shell.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { madeAs } from "../../tools/made-as.ts";
import {
  NativeToolSection,
  type NativeToolSectionOptions,
  overriding,
} from "./native-tool-section.ts";

/** What an `OpenAIShellSection` is made from. */
export interface OpenAIShellSectionOptions extends NativeToolSectionOptions {
  readonly defaultParams?: ShellConfig | undefined;
  /** Needed in a local environment, and only there. */
  readonly executor?: ShellExecutor | undefined;
}

/** Lets the model run shell commands: in a container at OpenAI, or here by `executor`. */
export class OpenAIShellSection extends NativeToolSection<
  WholeShellConfig,
  HostedTool<ShellConfig, ShellResult, ShellLive>
> {
  readonly #options: OpenAIShellSectionOptions;

  constructor(options: OpenAIShellSectionOptions = {}) {
    const { key = "openai_shell", ...rest } = checkOptions(options, "OpenAIShellSection");
    super({ ...rest, key, title: "Shell" }, (section) => {
      const given = { config: `${section} defaultParams`, options: `${section} ` };
      const { defaultParams, executor } = options;
      const tool = madeAs(given, () => shellTool(defaultParams, { executor }));
      const { environment = { type: "container" } } = tool.config;
      return { defaultParams: { environment }, tool };
    });
    const { tool, nativeTools } = this;
    this.#options = { ...options, key, defaultParams: tool.config, nativeTools };
  }

  /**
   * The same shell, with other options where given; `defaultParams` as a whole. The executor stays
   * as long as the commands run here.
   */
  override clone(options: OpenAIShellSectionOptions = {}): this {
    const maker: unknown = this.constructor;
    if (maker !== OpenAIShellSection) return super.clone(options);
    const wanted = overriding(this.#options, options);
    const isLocal = wanted.defaultParams?.environment?.type === "local";
    const executor = isLocal ? wanted.executor : options.executor;
    return new OpenAIShellSection({ ...wanted, executor }) as this;
  }
}

interface WholeShellConfig {
  readonly environment: ContainerEnvironment | LocalEnvironment;
}
