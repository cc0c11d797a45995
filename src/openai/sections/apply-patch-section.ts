import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import {
  type ApplyPatchConfig,
  type ApplyPatchLive,
  type ApplyPatchResult,
  type ApplyPatchToolOptions,
  applyPatchTool,
} from "../../tools/hosted/apply-patch.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { renameConfigError } from "../../tools/rename-config-error.ts";
import {
  mergeOptions,
  NativeToolSection,
  type NativeToolSectionOptions,
  nativeToolSectionKeys,
} from "./native-tool-section.ts";

/** Options of the `OpenAIApplyPatchSection` constructor. */
export interface OpenAIApplyPatchSectionOptions
  extends NativeToolSectionOptions,
    Pick<ApplyPatchToolOptions, "filesystem" | "needsApproval"> {}

const keys: KnownKeys<OpenAIApplyPatchSectionOptions> = {
  ...nativeToolSectionKeys,
  filesystem: true,
  needsApproval: true,
};

/** Lets the model change files with patches, which are applied locally. */
export class OpenAIApplyPatchSection extends NativeToolSection<
  ApplyPatchConfig,
  HostedTool<ApplyPatchConfig, ApplyPatchResult, ApplyPatchLive>
> {
  readonly #options: OpenAIApplyPatchSectionOptions;

  constructor(options: OpenAIApplyPatchSectionOptions = {}) {
    checkKnownKeys(options, "OpenAIApplyPatchSection", keys, PromptValidationError);
    const { key = "openai_apply_patch", ...rest } = options;
    super({ ...rest, key, title: "Apply patch" }, (section) => {
      const { filesystem, needsApproval } = options;
      const given = { config: `${section} defaultParams`, options: `${section} ` };
      return {
        defaultParams: {},
        tool: renameConfigError(given, () => applyPatchTool({}, { filesystem, needsApproval })),
      };
    });
    this.#options = { ...options, key, nativeTools: this.nativeTools };
  }

  /** Creates a copy for the same file system; `options` override the original's. */
  override clone(options: OpenAIApplyPatchSectionOptions = {}): this {
    checkKnownKeys(options, "OpenAIApplyPatchSection", keys, PromptValidationError);
    const maker: unknown = this.constructor;
    if (maker !== OpenAIApplyPatchSection) return super.clone(options);
    return new OpenAIApplyPatchSection(mergeOptions(this.#options, options)) as this;
  }
}
