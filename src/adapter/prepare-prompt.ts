import { raceAbort } from "../base/clock.ts";
import { getErrorMessage, InvalidOptionError, PromptRenderError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import { checkPolicyNames } from "../prompt/check-policy-names.ts";
import { joinInputText } from "../prompt/input.ts";
import { listSectionTools, type PlacedSection, RESERVED_NAMES } from "../prompt/outline.ts";
import type { Prompt } from "../prompt/prompt.ts";
import { toEnvelope } from "../prompt/render-prompt.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import type { PrepareContext } from "../prompt/section.ts";
import { checkToolNames } from "../prompt/template-checks.ts";
import { visibilitySlice } from "../prompt/visibility.ts";
import { hearsEvent, type Session } from "../session/session.ts";
import { asHostedTool, runsAtProvider } from "../tools/as-hosted-tool.ts";
import { callRecord } from "../tools/call-record.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Tool } from "../tools/tool.ts";
import { checkToolChoice } from "./check-tool-choice.ts";
import { publishEvent } from "./events.ts";
import type { LoopSettings } from "./loop-options.ts";
import type { ModelClient, Omission } from "./model-client.ts";

/** Loads the prompt's overrides, if it has a store, and publishes an event for each skipped one. */
export async function loadOverrides(
  prompt: Prompt,
  client: ModelClient,
  { session, clock }: LoopSettings,
  { isNested }: { readonly isNested: boolean },
): Promise<void> {
  try {
    await prompt.loadOverrides();
  } catch (cause) {
    const message = `The overrides could not be loaded: ${getErrorMessage(cause)}`;
    throw new PromptEvaluationError(message, { promptName: prompt.name, phase: "render", cause });
  }
  for (const { of, reason } of prompt.skippedOverrides) {
    const announcer = { session, prompt, adapterName: client.adapterName, clock, isNested };
    publishEvent(announcer, { type: "OverrideSkipped", of, reason });
  }
}

/**
 * The sections of a prompt that one evaluation prepares before it renders them, and releases when it ends.
 */
export class PreparedSections implements AsyncDisposable {
  readonly #prompt: Prompt;
  readonly #session: Session;
  readonly #signal: AbortSignal;
  /** The context of each section whose `prepare` was called. */
  readonly #contexts = new Map<PlacedSection, PrepareContext>();
  /** The revision of each section before it was prepared. */
  readonly #revisions = new Map<PlacedSection, unknown>();

  private constructor(prompt: Prompt, session: Session, signal: AbortSignal) {
    this.#prompt = prompt;
    this.#session = session;
    this.#signal = signal;
  }

  /** Returns `null` if no section of the prompt has `prepare`. */
  static find(prompt: Prompt, session: Session, signal: AbortSignal): PreparedSections | null {
    const needsPreparing = prompt.template.outline.some(({ section }) => section.prepare);
    return needsPreparing ? new PreparedSections(prompt, session, signal) : null;
  }

  /** Returns whether a prepared section has changed since. */
  get isStale(): boolean {
    for (const [{ section }, revision] of this.#revisions) {
      if (section.revision !== revision) return true;
    }
    return false;
  }

  /** Prepares the enabled sections that are not prepared, or have changed since, concurrently. */
  async prepare(): Promise<void> {
    const enabled = this.#prompt.listEnabledSections({ session: this.#session });
    const unprepared = enabled.filter(
      (placed) =>
        placed.section.prepare &&
        !(this.#revisions.has(placed) && this.#revisions.get(placed) === placed.section.revision),
    );
    if (unprepared.length === 0) return;
    const isFirst = this.#revisions.size === 0;
    const all = Promise.all(unprepared.map((placed) => this.#prepareSection(placed)));
    await raceAbort(all, this.#signal);
    this.#checkNames(enabled, isFirst);
  }

  /** Checks what the template could not check, because sections had no tools then. */
  #checkNames(enabled: readonly PlacedSection[], isFirst: boolean): void {
    const { template } = this.#prompt;
    checkToolNames(listSectionTools(enabled), template.name);
    const isComplete = template.outline.every(
      (placed) => !placed.section.prepare || this.#revisions.has(placed),
    );
    if (isFirst && isComplete) checkPolicyNames(listSectionTools(template.outline), template);
  }

  async #prepareSection(placed: PlacedSection): Promise<void> {
    const { section, path } = placed;
    const context = this.#contexts.get(placed) ?? this.#createContext(placed);
    this.#contexts.set(placed, context);
    const { revision } = section; // a change during prepare() must not be missed
    try {
      await section.prepare?.(context);
    } catch (cause) {
      this.#signal.throwIfAborted();
      throw new PromptRenderError(path, `its prepare() failed: ${getErrorMessage(cause)}`, cause);
    }
    this.#revisions.set(placed, revision);
  }

  #createContext(placed: PlacedSection): PrepareContext {
    const listOtherToolNames = () => {
      const others = this.#prompt.template.outline.filter((other) => other !== placed);
      const tools = listSectionTools(others).flatMap((one) => [...one.tools, ...one.hostedTools]);
      return new Set([...RESERVED_NAMES, ...tools.map(({ name }) => name)]);
    };
    const [signal, session] = [this.#signal, this.#session];
    return Object.freeze({ signal, session, listOtherToolNames });
  }

  /** Releases all sections whose `prepare` was called. Throws the first failure at the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const contexts = [...this.#contexts];
    this.#contexts.clear();
    const released = await Promise.allSettled(
      contexts.map(async ([{ section }, context]) => section.release?.(context)),
    );
    const failed = released.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }
}

/**
 * Renders the prompt, omits hosted tools that are not allowed, and checks the rest. Sends nothing.
 */
export function preparePrompt<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  settings: LoopSettings,
  { isNested }: { readonly isNested: boolean },
): RenderedPrompt<Output> {
  const { session, clock, input } = settings;
  const announcer = { session, prompt, adapterName: client.adapterName, clock, isNested };
  registerSlices(prompt, session);
  const { rendered, omissions } = renderForClient(prompt, client, settings);
  for (const { tool, reason } of omissions) {
    const { name, kind } = tool;
    publishEvent(announcer, { type: "HostedToolOmitted", name, kind, reason });
  }
  if (!session[hearsEvent]("PromptRendered")) return rendered;
  publishEvent(announcer, {
    type: "PromptRendered",
    text: rendered.text,
    messages: rendered.messages,
    input: input.length === 0 ? null : joinInputText(input),
    tools: rendered.tools.map(({ name, description, paramsSchema: params }) => ({
      name,
      description,
      params,
    })),
    hostedTools: rendered.hostedTools.map(({ name, kind }) => ({ name, kind })),
  });
  return rendered;
}

/**
 * Returns the prompt for this provider and the hosted tools that are omitted. Publishes nothing. Set `prepared` to
 * `false` if the sections were not prepared.
 */
export function renderForClient<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  settings: RenderSettings,
): { readonly rendered: RenderedPrompt<Output>; readonly omissions: readonly Omission[] } {
  const own = renderPrompt(prompt, settings);
  try {
    const complete = addHostedTools(own, client.hostedTools ?? []);
    const forbidden = findForbiddenTools(settings.allowHostedTools ?? true, complete);
    const allowed = omitTools(complete, forbidden);
    checkSections(allowed, client.adapterName);
    checkProviders(allowed, client.adapterName);
    checkHandlers(allowed);
    const unsupported = client.check?.(allowed, forbidden) ?? [];
    const rendered = omitTools(allowed, unsupported);
    const { toolChoice = "auto" } = settings;
    const omissions = [...forbidden, ...unsupported];
    if (toolChoice !== "auto")
      checkToolChoice(toolChoice, rendered, listHiddenTools(prompt, omissions));
    return { rendered, omissions };
  } catch (cause) {
    if (cause instanceof PromptEvaluationError) throw cause;
    const details = { promptName: own.promptName, phase: "request", cause } as const;
    throw new PromptEvaluationError(getErrorMessage(cause), details);
  }
}

/** Adds the adapter's hosted tools to the prompt, except kinds that the prompt already has. */
function addHostedTools<Output>(
  rendered: RenderedPrompt<Output>,
  tools: readonly HostedTool[],
): RenderedPrompt<Output> {
  if (tools.length === 0) return rendered;
  const own = new Set(rendered.hostedTools.map(({ kind }) => kind));
  const added = tools.filter(({ kind }) => !own.has(kind));
  if (added.length === 0) return rendered;
  const names = new Set([...rendered.tools, ...rendered.hostedTools].map(({ name }) => name));
  const taken = added.find(({ name }) => names.has(name));
  if (taken) {
    throw new InvalidOptionError({
      field: `The adapter's hosted tool of kind "${taken.kind}"`,
      value: taken.name,
      rule: "must not have the same name as a tool of the prompt",
      remedy:
        "rename the prompt's tool, or declare the hosted tool in the prompt under a different name",
    });
  }
  const hostedTools = Object.freeze([...rendered.hostedTools, ...added]);
  const nativeTools = deepFreeze(hostedTools.map(toEnvelope));
  return copyWithFields(rendered, { hostedTools, nativeTools });
}

/** Lists the tools of all sections, of which some may be opened later, except omitted tools. */
function listHiddenTools(
  { template }: Prompt,
  omissions: readonly Omission[],
): Pick<RenderedPrompt, "tools" | "hostedTools"> {
  const sections = template.outline.map(({ section }) => section);
  const out = new Set(omissions.map(({ tool }) => tool.name));
  const tools = sections.flatMap((section) => section.tools());
  const hostedTools = [
    ...sections.flatMap((section) => section.hostedTools()),
    ...tools.flatMap(asHostedTool),
  ];
  return { tools, hostedTools: hostedTools.filter(({ name }) => !out.has(name)) };
}

/** Registers the slices that disclosure and policies need, if the prompt uses them. */
function registerSlices({ template }: Prompt, session: Session): void {
  const { outline } = template;
  if (outline.some(({ section }) => section.summary !== null)) session.register(visibilitySlice);
  const hasPolicies = ({ policies }: Pick<Tool, "policies">) => policies.length > 0;
  const isGuarded =
    hasPolicies(template) ||
    outline.some(({ section }) => hasPolicies(section) || section.tools().some(hasPolicies));
  if (isGuarded) session.register(callRecord);
}

interface RenderSettings extends LoopSettings {
  readonly prepared?: boolean | undefined;
}

function renderPrompt<Output>(
  prompt: Prompt<Output>,
  { session, prepared }: RenderSettings,
): RenderedPrompt<Output> {
  try {
    return prompt.render({ session, prepared });
  } catch (cause) {
    const details = { promptName: prompt.name, phase: "render", cause } as const;
    throw new PromptEvaluationError(getErrorMessage(cause), details);
  }
}

function findForbiddenTools(
  allowed: boolean | readonly string[],
  { hostedTools }: RenderedPrompt,
): readonly Omission[] {
  if (allowed === true) return [];
  const isAllowed = ({ name, kind }: HostedTool) =>
    allowed !== false && (allowed.includes(name) || allowed.includes(kind));
  const reason = "allowHostedTools does not allow it";
  return hostedTools.filter((tool) => !isAllowed(tool)).map((tool) => ({ tool, reason }));
}

/** Removes hosted tools and the tools that declared them from the prompt. */
function omitTools<Output>(
  rendered: RenderedPrompt<Output>,
  omissions: readonly Omission[],
): RenderedPrompt<Output> {
  if (omissions.length === 0) return rendered;
  const out = new Set(omissions.map(({ tool }) => tool.name));
  const stays = ({ name }: { readonly name: string }) => !out.has(name);
  return copyWithFields(rendered, {
    tools: Object.freeze(rendered.tools.filter(stays)),
    hostedTools: Object.freeze(rendered.hostedTools.filter(stays)),
    nativeTools: Object.freeze(rendered.nativeTools.filter(stays)),
  });
}

/** Copies the prompt with changed fields. Getters are copied without being called. */
function copyWithFields<Output>(
  rendered: RenderedPrompt<Output>,
  fields: Partial<RenderedPrompt<Output>>,
): RenderedPrompt<Output> {
  const copy: RenderedPrompt<Output> = Object.create(Object.prototype, {
    ...Object.getOwnPropertyDescriptors(rendered),
    ...Object.getOwnPropertyDescriptors(fields),
  });
  return Object.freeze(copy);
}

/** Rejects sections for other adapters, which describe features that this adapter does not have. */
function checkSections({ providers }: RenderedPrompt, adapterName: string): void {
  for (const [path, provider] of providers) {
    if (provider === adapterName) continue;
    throw new InvalidOptionError({
      field: `Section "${path}" provider`,
      value: provider,
      rule: `must be "${adapterName}" for this adapter`,
      remedy: "use this adapter's own section in its place, which takes the same options",
    });
  }
}

function checkProviders({ hostedTools }: RenderedPrompt, adapterName: string): void {
  for (const { name, provider } of hostedTools) {
    if (provider === null || provider === adapterName) continue;
    throw new InvalidOptionError({
      field: `Hosted tool "${name}" provider`,
      value: provider,
      rule: `must be "${adapterName}" for this adapter`,
      remedy: "remove the tool, or run the prompt on the adapter for that provider",
    });
  }
}

function checkHandlers({ tools }: RenderedPrompt): void {
  const withoutHandler = tools.find((tool) => tool.handler === null && !runsAtProvider(tool));
  if (!withoutHandler) return;
  throw new InvalidOptionError({
    field: `Tool "${withoutHandler.name}" handler`,
    value: null,
    rule: "must be a function for a tool that runs locally",
    remedy: "add a handler, or use a NativeTool if the provider runs it",
  });
}
