import {
  checkNetworkPolicy,
  type NetworkAllowlist,
  type NetworkDisabled,
  type NetworkPolicy,
} from "../tools/hosted/network-policy.ts";

/** What the SDK's process and the commands of the model see of this machine. */
export interface IsolationConfig {
  /** The hosts that commands may reach. It does not restrict the model or your own tools. @default none */
  readonly networkPolicy?: NetworkPolicy | undefined;
  readonly sandbox?: SandboxConfig | undefined;
  /** Variables for the SDK's process. Commands see them too. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default what the environment has: `ANTHROPIC_API_KEY`, a token, Bedrock or Vertex */
  readonly apiKey?: string | undefined;
  /** Where requests go. @default the environment's `ANTHROPIC_BASE_URL`, or Anthropic */
  readonly baseURL?: string | undefined;
  /** Passes on the variables of this process, except those that look like secrets. @default false */
  readonly includeHostEnv?: boolean | undefined;
  /** Whether credentials may come from this process's environment. @default true */
  readonly inheritAuth?: boolean | undefined;
}

/** The sandbox in which commands of the model run. */
export interface SandboxConfig {
  /** `false` runs commands without a sandbox, with all rights of your user. @default true */
  readonly enabled?: boolean | undefined;
  /** Absolute paths that the model may write besides the workspace. @default none */
  readonly writablePaths?: readonly string[] | undefined;
  /** Absolute paths in home or temporary folders that the model may read. @default none */
  readonly readablePaths?: readonly string[] | undefined;
  /** Commands that run outside the sandbox: `"docker *"`. @default none */
  readonly excludedCommands?: readonly string[] | undefined;
  /** Whether the model may run a command outside the sandbox. @default false */
  readonly allowUnsandboxedCommands?: boolean | undefined;
}

/** Creates a network policy by which commands reach no host. It is also the default. */
export function noNetwork(): NetworkDisabled {
  return Object.freeze({ type: "disabled" });
}

/** Creates a network policy by which commands reach only these hosts. */
export function withDomains(...domains: readonly string[]): NetworkAllowlist {
  const policy = { type: "allowlist", allowedDomains: Object.freeze([...domains]) } as const;
  checkNetworkPolicy(policy, "networkPolicy");
  return Object.freeze(policy);
}
