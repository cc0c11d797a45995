import { InvalidOptionError, WinkError } from "../base/errors.ts";

/** The flags of `wink serve`, by the library's field names. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ["listen(port)", "--port"],
  ["dataDir", "--data-dir"],
  ["sandbox", "--sandbox"],
  ["dockerSandbox.image", "--sandbox-image"],
  ["web", "--web"],
  ["LocalProvider.apiKey", "--api-key"],
  ["LocalProvider.allowedHosts", "--allow-host"],
  ["LocalProvider.allowedOrigins", "--allow-origin"],
  ["upstreamModel.baseURL", "--upstream"],
  ["upstreamModel.model", "--upstream-model"],
  ["upstreamModel.apiKey", "--upstream-key"],
]);

/** Converts an error's field to the flag that the user passed. */
export function toFlagError(error: unknown): unknown {
  if (!(error instanceof InvalidOptionError)) return error;
  if (error.field === "listen(host)") return createKeyRequiredError(error.value);
  const flag = FLAGS.get(error.field.replace(/\[\d+\]$/, ""));
  return flag === undefined ? error : error.withField(flag);
}

function createKeyRequiredError(host: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "--host",
    value: host,
    rule: "must be a loopback address unless an API key is set",
    remedy: "set WINK_API_KEY, pass --api-key, or omit --host",
  });
}

/** Rewrites an error about a mount in terms of the flags of `wink mount`. */
export function toMountFlagError(error: unknown): unknown {
  if (!(error instanceof WinkError)) return error;
  return new RewordedFailure(error, error.message.replace(QUOTED_OR_NAMED, toMountWord));
}

/** Rewraps an error with a different message. */
class RewordedFailure extends WinkError {
  override readonly name: string;

  constructor(error: WinkError, message: string) {
    super(message, { cause: error });
    this.name = error.name;
  }
}

/** The arguments of `wink mount`, by the library's names in messages. */
const MOUNT_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^mounts\[0\]\.includeGlob\[\d+\]$/, "--include"],
  [/^mounts\[0\]\.excludeGlob\[\d+\]$/, "--exclude"],
  [/^allowSecrets\[\d+\]$/, "--allow-secret"],
  [/^mounts\[0\](?:\.hostPath)?$/, "PATH"],
  [/^excludeGlob$/, "--exclude"],
  [/^maxBytes$/, "--max-bytes"],
  [/^followSymlinks$/, "--follow-symlinks"],
  [/^gitignore$/, "--gitignore"],
  [/^is outside the allowed host roots/, "leads out of PATH. Exclude it with --exclude."],
];

/** Matches quoted strings too, so that names which the user chose are not replaced. */
const QUOTED_OR_NAMED =
  /is outside the allowed host roots, .*$|"(?:[^"\\]|\\.)*"|\b(?:mounts|allowSecrets)\[\d+\](?:\.\w+(?:\[\d+\])?)?|\b(?:excludeGlob|maxBytes|followSymlinks|(?<=set )gitignore)\b/gs;

function toMountWord(found: string): string {
  return MOUNT_WORDS.find(([name]) => name.test(found))?.[1] ?? found;
}
