import { PromptValidationError } from "../../base/errors.ts";
import { checkKeys, checkText, checkType, elsewhere, optional } from "../config-checks.ts";
import { HostedTool, markChecked } from "../hosted-tool.ts";
import { type ContainerOptions, containerChecks } from "./code-interpreter.ts";

/** Where commands run. */
export interface ShellConfig {
  /** Where commands run. @default a new container */
  readonly environment?: ContainerEnvironment | LocalEnvironment | undefined;
}

/** At the provider, in a container of its own. */
export interface ContainerEnvironment extends ContainerOptions {
  readonly type: "container";
  /** One that exists; its files and its network are what it was made with. */
  readonly containerId?: string | undefined;
}

/** Here, by the executor that the tool was given. */
export interface LocalEnvironment {
  readonly type: "local";
}

/** Runs what the model asks for. What it may reach is up to it. */
export interface ShellExecutor {
  /** Gives one output for each command. A command that fails is an output, not a throw. */
  run(commands: readonly string[], options: ShellRunOptions): Promise<readonly ShellOutput[]>;
}

/** The limits of one run. */
export interface ShellRunOptions {
  /** How long the model allows; `null` if it does not say. */
  readonly timeoutMs: number | null;
  /** How many characters the model wants at most; `null` if it does not say. */
  readonly maxOutputLength: number | null;
  /** Aborts when the evaluation is cancelled or its deadline passes. */
  readonly signal: AbortSignal;
}

/** What the adapter needs to run commands here. */
export interface ShellLive {
  readonly executor: ShellExecutor;
}

/** What all commands of an evaluation gave. */
export interface ShellResult {
  readonly calls: readonly ShellCall[];
}

/** Commands that were run together. */
export interface ShellCall {
  readonly callId: string;
  readonly commands: readonly string[];
  /** One for each command. */
  readonly outputs: readonly ShellOutput[];
}

/** What one command gave. */
export interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: ShellOutcome;
}

/** How a command ended. */
export type ShellOutcome =
  | { readonly type: "exit"; readonly exitCode: number }
  | { readonly type: "timeout" };

export interface ShellToolOptions {
  /** @default "shell" */
  readonly name?: string | undefined;
  /** Needed in a local environment, and only there. */
  readonly executor?: ShellExecutor | undefined;
}

/** A tool by which the model runs shell commands: at the provider, or here by `executor`. */
export function shellTool(
  config: ShellConfig = {},
  { name = "shell", executor }: ShellToolOptions = {},
): HostedTool<ShellConfig, ShellResult, ShellLive> {
  checkKeys<ShellConfig>(config, "shellTool(config)", { environment: optional(checkEnvironment) });
  const { environment = { type: "container" } } = config;
  refuseContradiction(environment, "shellTool(config).environment");
  checkExecutor(executor, environment.type);
  return markChecked(
    new HostedTool({
      kind: "shell",
      name,
      description: "Run shell commands and read what they print.",
      config,
      live: executor && { executor },
    }),
  );
}

function checkEnvironment(environment: unknown, field: string): void {
  if (checkType(environment, field, ["container", "local"]) === "local") {
    checkKeys<LocalEnvironment>(environment, field, { type: elsewhere });
    return;
  }
  checkKeys<ContainerEnvironment>(environment, field, {
    type: elsewhere,
    ...containerChecks(),
    containerId: optional(checkText),
  });
}

function refuseContradiction(
  environment: ContainerEnvironment | LocalEnvironment,
  field: string,
): void {
  if (environment.type === "local" || environment.containerId === undefined) return;
  const { containerId, fileIds, networkPolicy } = environment;
  if (fileIds === undefined && networkPolicy === undefined) return;
  throw new PromptValidationError({
    field: `${field}.containerId`,
    value: containerId,
    rule: "must be left out beside fileIds or networkPolicy",
    remedy: "give those when the container is made, or let a new one be made",
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
    const remedy = "give an object with run(commands, options), or let a container run them";
    throw new PromptValidationError({ field, value: executor, rule, remedy });
  }
  if (executor === undefined) return;
  const rule = "must be left out where a container runs the commands";
  const remedy = 'for commands that run here write { environment: { type: "local" } }';
  throw new PromptValidationError({ field, value: executor, rule, remedy });
}
