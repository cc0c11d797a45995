import {
  checkNetworkPolicy,
  type NetworkAllowlist,
  type NetworkDisabled,
  type NetworkPolicy,
} from "../tools/hosted/network-policy.ts";

/** What the SDK's process, and the commands a model has it run, see of this machine. */
export interface IsolationConfig {
  /** What commands may reach. Neither the model nor your own tools are bound by it. @default nothing */
  readonly networkPolicy?: NetworkPolicy | undefined;
  readonly sandbox?: SandboxConfig | undefined;
  /** Variables for the SDK's process, which commands see too. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default what the environment has: `ANTHROPIC_API_KEY`, a token, Bedrock or Vertex */
  readonly apiKey?: string | undefined;
  /** Where requests go. @default the environment's `ANTHROPIC_BASE_URL`, or Anthropic */
  readonly baseURL?: string | undefined;
  /** Passes on this process's variables, but none that looks like a secret. @default false */
  readonly includeHostEnv?: boolean | undefined;
  /** Whether credentials may come from this process's environment. @default true */
  readonly inheritAuth?: boolean | undefined;
}

/** What binds the commands that a model writes. */
export interface SandboxConfig {
  /** `false` runs commands with all that your user may do. @default true */
  readonly enabled?: boolean | undefined;
  /** Where the model may write besides the workspace: absolute paths. @default none */
  readonly writablePaths?: readonly string[] | undefined;
  /** What it may read though it is in a home or temporary folder: absolute paths. @default none */
  readonly readablePaths?: readonly string[] | undefined;
  /** Commands that run outside: `"docker *"`. @default none */
  readonly excludedCommands?: readonly string[] | undefined;
  /** Whether the model may ask for a command to run outside. @default false */
  readonly allowUnsandboxedCommands?: boolean | undefined;
}

/** Commands reach nothing, which is also what they reach if nothing is said. */
export function noNetwork(): NetworkDisabled {
  return Object.freeze({ type: "disabled" });
}

/** Commands reach these hosts and no others. */
export function withDomains(...domains: readonly string[]): NetworkAllowlist {
  const policy = { type: "allowlist", allowedDomains: Object.freeze([...domains]) } as const;
  checkNetworkPolicy(policy, "networkPolicy");
  return Object.freeze(policy);
}
