import { PromptValidationError } from "../../base/errors.ts";
import { deepFreeze } from "../../base/freeze.ts";
import { Section, type SectionOptions } from "../../prompt/section.ts";
import { checkText } from "../../tools/config-checks.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { capabilities, checkedTable, type NativeToolsTable } from "../capabilities.ts";

/** What all sections that only carry a hosted tool take. */
export interface NativeToolSectionOptions {
  readonly key?: string | undefined;
  /** Refused now if it is known to lack the tool. @default found out when a request is made */
  readonly model?: string | undefined;
  /** What models can run, as the adapter is told it. @default the adapter's own table */
  readonly nativeTools?: NativeToolsTable | undefined;
  /** `false` leaves the tool out. @default always */
  readonly enabled?: SectionOptions<object>["enabled"];
}

/** What one kind of such a section adds. */
export interface NativeToolParts<DefaultParams, Hosted> {
  readonly defaultParams: DefaultParams;
  readonly tool: Hosted;
}

/** Says nothing and carries one hosted tool. There is nothing in it to bind or to override. */
export abstract class NativeToolSection<
  in out DefaultParams extends object,
  in out Hosted extends HostedTool,
> extends Section<object, object> {
  override readonly defaultParams: DefaultParams;
  /** What the provider runs; `response.hostedOutputs` has what it gave under it. */
  readonly tool: Hosted;
  /** What clones are made with. */
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
    this.nativeTools = checkedTable(nativeTools, `${section} nativeTools`);
    if (model !== undefined) this.#checkModel(model, `${section} model`);
  }

  /** Takes no params, not even unused ones: a section that does lets anything be bound. */
  override render(): string {
    return "";
  }

  override hostedTools(): readonly HostedTool[] {
    return [this.tool];
  }

  #checkModel(model: string, field: string): void {
    checkText(model, field);
    const lack = capabilities(this.nativeTools).lacks(model, this.tool.kind);
    if (lack === null) return;
    const rule = `must be a model that can run "${this.tool.kind}"`;
    throw new PromptValidationError({ field, value: model, rule, remedy: lack });
  }
}

/** `given` over `kept`; what is `undefined` was not given. */
export function overriding<Options extends object>(
  kept: Options,
  given: Partial<Options>,
): Options {
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...kept, ...Object.fromEntries(said) };
}
