import { InvalidOptionError, messageOf } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import type { Prompt } from "../prompt/prompt.ts";
import type { RenderedPrompt } from "../prompt/render.ts";
import { visibilitySlice } from "../prompt/visibility.ts";
import type { Session } from "../session/session.ts";
import { callRecord } from "../tools/call-record.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { runsAtProvider } from "../tools/projected-tool.ts";
import { announce } from "./announce.ts";
import type { LoopSettings } from "./loop-options.ts";
import type { ModelClient } from "./model-client.ts";
import { checkToolChoice } from "./tool-choice.ts";

/** Fetches overrides, if the prompt has a store for them, and tells of those that do not fit. */
export async function loadOverrides(
  prompt: Prompt,
  client: ModelClient,
  { session, clock }: LoopSettings,
): Promise<void> {
  try {
    await prompt.loadOverrides();
  } catch (cause) {
    const message = `The overrides could not be loaded: ${messageOf(cause)}`;
    throw new PromptEvaluationError(message, { promptName: prompt.name, phase: "render", cause });
  }
  for (const { of, reason } of prompt.skippedOverrides) {
    const announcer = { session, prompt, adapterName: client.adapterName, clock };
    announce(announcer, { type: "OverrideSkipped", of, reason });
  }
}

/** Renders, leaves out what is not allowed, and refuses what could not work; nothing is sent yet. */
export function preparePrompt<Output>(
  prompt: Prompt<Output>,
  client: ModelClient,
  settings: LoopSettings,
): RenderedPrompt<Output> {
  const { session, clock } = settings;
  const announcer = { session, prompt, adapterName: client.adapterName, clock };
  registerSlices(prompt, session);
  const whole = renderNow(prompt, settings);
  const isAllowed = allowedBy(settings.allowHostedTools ?? true);
  const rendered = without(whole, (tool) => !isAllowed(tool));
  try {
    checkProviders(rendered, client.adapterName);
    checkHandlers(rendered);
    checkToolChoice(settings.toolChoice ?? "auto", rendered);
  } catch (cause) {
    const details = { promptName: prompt.name, phase: "request", cause } as const;
    throw new PromptEvaluationError(messageOf(cause), details);
  }
  for (const { name, kind } of whole.hostedTools.filter((tool) => !isAllowed(tool))) {
    const reason = "allowHostedTools does not allow it";
    announce(announcer, { type: "HostedToolOmitted", name, kind, reason });
  }
  announce(announcer, {
    type: "PromptRendered",
    text: rendered.text,
    tools: rendered.tools.map(({ name, description, paramsSchema: params }) => ({
      name,
      description,
      params,
    })),
    hostedTools: rendered.hostedTools.map(({ name, kind }) => ({ name, kind })),
  });
  return rendered;
}

/** What disclosure and policies remember, where the prompt has any. */
function registerSlices({ template }: Prompt, session: Session): void {
  const sections = template.outline.map(({ section }) => section);
  if (sections.some(({ summary }) => summary !== null)) session.register(visibilitySlice);
  const guarded = [template, ...sections, ...sections.flatMap((section) => section.tools())];
  if (guarded.some(({ policies }) => policies.length > 0)) session.register(callRecord);
}

function renderNow<Output>(
  prompt: Prompt<Output>,
  { session }: LoopSettings,
): RenderedPrompt<Output> {
  try {
    return prompt.render({ session });
  } catch (cause) {
    const details = { promptName: prompt.name, phase: "render", cause } as const;
    throw new PromptEvaluationError(messageOf(cause), details);
  }
}

function allowedBy(allowed: boolean | readonly string[]): (tool: HostedTool) => boolean {
  if (typeof allowed === "boolean") return () => allowed;
  return ({ name, kind }) => allowed.includes(name) || allowed.includes(kind);
}

/** The prompt without some hosted tools, and without what declared them. */
function without<Output>(
  rendered: RenderedPrompt<Output>,
  isOut: (tool: HostedTool) => boolean,
): RenderedPrompt<Output> {
  const out = new Set(rendered.hostedTools.filter(isOut).map(({ name }) => name));
  if (out.size === 0) return rendered;
  const stays = ({ name }: { readonly name: string }) => !out.has(name);
  return Object.freeze({
    ...rendered,
    tools: Object.freeze(rendered.tools.filter(stays)),
    hostedTools: Object.freeze(rendered.hostedTools.filter(stays)),
    nativeTools: Object.freeze(rendered.nativeTools.filter(stays)),
  });
}

function checkProviders({ hostedTools }: RenderedPrompt, adapterName: string): void {
  for (const { name, provider } of hostedTools) {
    if (provider === null || provider === adapterName) continue;
    throw new InvalidOptionError({
      field: `Hosted tool "${name}" provider`,
      value: provider,
      rule: `must be "${adapterName}" for this adapter`,
      remedy: "leave the tool out, or run the prompt on the adapter it belongs to",
    });
  }
}

function checkHandlers({ tools }: RenderedPrompt): void {
  const mute = tools.find((tool) => tool.handler === null && !runsAtProvider(tool));
  if (!mute) return;
  throw new InvalidOptionError({
    field: `Tool "${mute.name}" handler`,
    value: null,
    rule: "must be a function for a tool that runs here",
    remedy: "give it a handler, or make it a NativeTool if the provider runs it",
  });
}
