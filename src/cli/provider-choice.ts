import type { SandboxName } from "./find-sandbox.ts";
import type { ModelChoice } from "./load-model.ts";

/** What the command line says about a local provider. */
export interface ProviderChoice {
  /** Folder for all data. @default a temporary folder that is deleted at the end */
  readonly dataDir?: string | undefined;
  readonly sandbox: SandboxName;
  /** Image for Podman or Docker. @default python:3.13-slim */
  readonly sandboxImage?: string | undefined;
  readonly model: ModelChoice;
  readonly web?: string | undefined;
}
