import { type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import { deepFreeze } from "../../base/freeze.ts";
import { Section, type SectionOptions } from "../../prompt/section.ts";
import { checkSingleLine } from "../../tools/config-checks.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import {
  checkNativeToolsTable,
  createCapabilities,
  type NativeToolsTable,
} from "../capabilities.ts";

/** Options shared by all sections that only provide a hosted tool. */
export interface NativeToolSectionOptions {
  /** The section's key. @default the section's kind, such as `"openai_shell"` */
  readonly key?: string | undefined;
  /**
   * Throws now if this model is known not to support the tool. @default checked by the first
   * request
   */
  readonly model?: string | undefined;
  /**
   * The hosted tool kinds that models can run, like the adapter's option. @default the built-in
   * table
   */
  readonly nativeTools?: NativeToolsTable | undefined;
  /** Returns `false` to omit the tool. @default always enabled */
  readonly enabled?: SectionOptions<object>["enabled"];
}

/** The keys of {@link NativeToolSectionOptions}. */
export const nativeToolSectionKeys: KnownKeys<NativeToolSectionOptions> = {
  enabled: true,
  key: true,
  model: true,
  nativeTools: true,
};

/** The parts that a subclass provides. */
export interface NativeToolParts<DefaultParams, Hosted> {
  readonly defaultParams: DefaultParams;
  readonly tool: Hosted;
}

/** A section without text that provides one hosted tool. It has no params and no overrides. */
export abstract class NativeToolSection<
  in out DefaultParams extends object,
  in out Hosted extends HostedTool,
> extends Section<object, object> {
  override readonly defaultParams: DefaultParams;
  /** The hosted tool. `response.hostedOutputs.get(section.tool)` returns its output. */
  readonly tool: Hosted;
  /** The table of tool kinds by model, passed on to clones. */
  readonly nativeTools: Readonly<Record<string, readonly string[]>>;

  constructor(
    options: NativeToolSectionOptions & { readonly key: string; readonly title: string },
    parts: (section: string) => NativeToolParts<DefaultParams, Hosted>,
  ) {
    const { key, title, enabled, model, nativeTools = {} } = options;
    super({ key, title, enabled, acceptsOverrides: false });
    const section = `Section "${this.key}"`;
    const { defaultParams, tool } = parts(section);
    this.defaultParams = deepFreeze(defaultParams);
    this.tool = tool;
    this.nativeTools = checkNativeToolsTable(nativeTools, `${section} nativeTools`);
    if (model !== undefined) this.#checkModel(model, `${section} model`);
  }

  /** Declares no params: a section with an unused param would accept any binding. */
  override render(): string {
    return "";
  }

  override hostedTools(): readonly [Hosted] {
    return [this.tool];
  }

  #checkModel(model: string, field: string): void {
    checkSingleLine(model, field);
    const problem = createCapabilities(this.nativeTools).explainUnsupported(model, this.tool.kind);
    if (problem === null) return;
    const rule = `must be a model that can run "${this.tool.kind}"`;
    throw new PromptValidationError({ field, value: model, rule, remedy: problem });
  }
}

/** Merges options: `given` overrides `kept`, except where it is `undefined`. */
export function mergeOptions<Options extends object>(
  base: Options,
  overrides: Partial<Options>,
): Options {
  const entries = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return { ...base, ...Object.fromEntries(entries) };
}
