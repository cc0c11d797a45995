import {
  checkNetworkPolicy,
  type NetworkAllowlist,
  type NetworkDisabled,
  type NetworkPolicy,
} from "../tools/hosted/network-policy.ts";

/** The access of the SDK's process and the model's commands to the host. */
export interface IsolationConfig {
  /** The hosts that commands may reach. It does not restrict model requests or your tools. @default none */
  readonly networkPolicy?: NetworkPolicy | undefined;
  /** The sandbox for the model's commands. @default enabled */
  readonly sandbox?: SandboxConfig | undefined;
  /** Environment variables for the SDK's process. Commands inherit them. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * The API key.
   * @default credentials from the environment: `ANTHROPIC_API_KEY`, a token, Bedrock or Vertex
   */
  readonly apiKey?: string | undefined;
  /** The API's base URL. @default the environment's `ANTHROPIC_BASE_URL`, or Anthropic's API */
  readonly baseURL?: string | undefined;
  /** Passes all variables of this process to the SDK, except likely secrets. @default false */
  readonly includeHostEnv?: boolean | undefined;
  /** Whether credentials may come from this process's environment. @default true */
  readonly inheritAuth?: boolean | undefined;
}

/** The sandbox for the model's commands. */
export interface SandboxConfig {
  /** `false` runs commands without a sandbox, with your user's permissions. @default true */
  readonly enabled?: boolean | undefined;
  /** Absolute paths outside the workspace that the model may write. @default none */
  readonly writablePaths?: readonly string[] | undefined;
  /** Absolute paths in home or temporary folders that the model may read. @default none */
  readonly readablePaths?: readonly string[] | undefined;
  /** Commands that run outside the sandbox: `"docker *"`. @default none */
  readonly excludedCommands?: readonly string[] | undefined;
  /** Whether the model may run a command outside the sandbox. @default false */
  readonly allowUnsandboxedCommands?: boolean | undefined;
}

/** Creates a network policy that blocks all hosts. It is also the default. */
export function noNetwork(): NetworkDisabled {
  return Object.freeze({ type: "disabled" });
}

/** Creates a network policy that allows only these hosts. Throws if a host is invalid. */
export function withDomains(...domains: readonly string[]): NetworkAllowlist {
  const policy = { type: "allowlist", allowedDomains: Object.freeze([...domains]) } as const;
  checkNetworkPolicy(policy, "networkPolicy");
  return Object.freeze(policy);
}
