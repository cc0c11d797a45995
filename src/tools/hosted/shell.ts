import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import { checkKeys, checkSingleLine, checkType, deferCheck, optional } from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import { checkNeedsApproval } from "../tool.ts";
import type { NeedsApproval } from "../tool-context.ts";
import { type ContainerOptions, containerChecks } from "./code-interpreter.ts";

/** Settings of {@link shellTool}. */
export interface ShellConfig {
  /** Where commands run. @default a new container */
  readonly environment?: ContainerEnvironment | LocalEnvironment | undefined;
}

/** Runs commands at the provider, in a container. */
export interface ContainerEnvironment extends ContainerOptions {
  /** Identifies a container environment. */
  readonly type: "container";
  /** Id of an existing container, which keeps the files and network access it was created with. */
  readonly containerId?: string | undefined;
}

/** Runs commands locally, with the tool's `executor`. */
export interface LocalEnvironment {
  /** Identifies a local environment. */
  readonly type: "local";
}

/** Runs shell commands that the model requests. The executor controls their access. */
export interface ShellExecutor {
  /** Returns one output per command. Report a failed command as an output; do not throw. */
  run(commands: readonly string[], options: ShellRunOptions): Promise<readonly ShellOutput[]>;
}

/** Limits of one run. */
export interface ShellRunOptions {
  /** Timeout requested by the model; `null` if it requested none. */
  readonly timeoutMs: number | null;
  /** Maximum output length in characters, requested by the model; `null` if it requested none. */
  readonly maxOutputLength: number | null;
  /** Aborts when the evaluation is canceled or its deadline passes. */
  readonly signal: AbortSignal;
}

/** Objects that the adapter needs to run commands locally. */
export interface ShellLive {
  /** Runs the commands. */
  readonly executor: ShellExecutor;
  /** Whether a call waits for approval. */
  readonly needsApproval: NeedsApproval<ShellParams>;
}

/** What the model asks a shell to do. */
export interface ShellParams {
  /** Commands, in order. */
  readonly commands: readonly string[];
  /** Timeout requested by the model. */
  readonly timeoutMs?: number | undefined;
  /** Maximum output length in characters, requested by the model. */
  readonly maxOutputLength?: number | undefined;
}

/** The outcome of all commands of an evaluation. */
export interface ShellResult {
  /** Every call, in order. */
  readonly calls: readonly ShellCall[];
}

/** Commands that ran together. */
export interface ShellCall {
  /** Provider's id of the call. */
  readonly callId: string;
  /** Commands, in order. */
  readonly commands: readonly string[];
  /** One output per command. */
  readonly outputs: readonly ShellOutput[];
}

/** The output of one command. */
export interface ShellOutput {
  /** Standard output. */
  readonly stdout: string;
  /** Standard error. */
  readonly stderr: string;
  /** How the command ended. */
  readonly outcome: ShellOutcome;
}

/** How a command ended: with an exit code, or by a timeout. */
export type ShellOutcome =
  | {
      /** The command exited. */
      readonly type: "exit";
      /** Exit code of the command. */
      readonly exitCode: number;
    }
  | {
      /** The command was stopped by its timeout. */
      readonly type: "timeout";
    };

/** Options of {@link shellTool}. */
export interface ShellToolOptions {
  /** Unique within a prompt. @default "shell" */
  readonly name?: string | undefined;
  /** Runs the commands. Required for the environment `"local"`, rejected for others. */
  readonly executor?: ShellExecutor | undefined;
  /**
   * Whether commands wait for approval before they run: `approve` of `evaluate` decides. OpenAI runs the commands of
   * a container environment without asking, so there the adapter rejects it. @default false
   */
  readonly needsApproval?: NeedsApproval<ShellParams> | undefined;
}

const optionKeys: KnownKeys<ShellToolOptions> = {
  executor: true,
  name: true,
  needsApproval: true,
};

/**
 * Creates a tool that lets the model run shell commands, at the provider or locally with
 * `executor`.
 */
export function shellTool(
  config: ShellConfig = {},
  options: ShellToolOptions = {},
): HostedTool<ShellConfig, ShellResult, ShellLive> {
  checkKnownKeys(options, "shellTool(options)", optionKeys, PromptValidationError);
  const { name = "shell", executor } = options;
  const needsApproval = checkNeedsApproval(
    options.needsApproval,
    "shellTool(options).needsApproval",
  );
  checkKeys<ShellConfig>(config, "shellTool(config)", { environment: optional(checkEnvironment) });
  const { environment = { type: "container" } } = config;
  rejectConflict(environment, "shellTool(config).environment");
  checkExecutor(executor, environment.type);
  return markChecked(
    new HostedTool({
      kind: "shell",
      name,
      description: "Run shell commands and read what they print.",
      config,
      live: { ...(executor && { executor }), needsApproval },
    }),
  );
}

function checkEnvironment(environment: unknown, field: string): void {
  if (checkType(environment, field, ["container", "local"]) === "local") {
    checkKeys<LocalEnvironment>(environment, field, { type: deferCheck });
    return;
  }
  checkKeys<ContainerEnvironment>(environment, field, {
    type: deferCheck,
    ...containerChecks(),
    containerId: optional(checkSingleLine),
  });
}

function rejectConflict(environment: ContainerEnvironment | LocalEnvironment, field: string): void {
  if (environment.type === "local" || environment.containerId === undefined) return;
  const { containerId, fileIds, networkPolicy } = environment;
  if (fileIds === undefined && networkPolicy === undefined) return;
  throw new PromptValidationError({
    field: `${field}.containerId`,
    value: containerId,
    rule: "must be omitted if fileIds or networkPolicy is set",
    remedy: "set those when you create the container, or omit containerId for a new one",
  });
}

function checkExecutor(
  executor: ShellExecutor | undefined,
  environment: "container" | "local",
): void {
  const field = "shellTool(options).executor";
  if (environment === "local") {
    if (typeof executor?.run === "function") return;
    const rule = "must be a ShellExecutor in a local environment";
    const remedy = "pass an object with run(commands, options), or use a container environment";
    throw new PromptValidationError({ field, value: executor, rule, remedy });
  }
  if (executor === undefined) return;
  const rule = "must be omitted in a container environment";
  const remedy = 'use { environment: { type: "local" } } to run commands locally';
  throw new PromptValidationError({ field, value: executor, rule, remedy });
}
