import { InvalidOptionError, WinkError } from "../base/errors.ts";

/** The flags of `wink serve`, by what the library calls the same. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ["listen(port)", "--port"],
  ["dataDir", "--data-dir"],
  ["sandbox", "--sandbox"],
  ["web", "--web"],
  ["LocalProvider.apiKey", "--api-key"],
  ["upstreamModel.baseURL", "--upstream"],
  ["upstreamModel.model", "--upstream-model"],
]);

/** What is wrong, in the words of the command line that it came from. */
export function inFlags(error: unknown): unknown {
  if (!(error instanceof InvalidOptionError)) return error;
  if (error.field === "listen(host)") return needsKey(error.value);
  const flag = FLAGS.get(error.field);
  return flag === undefined ? error : error.renamed(flag);
}

function needsKey(host: unknown): InvalidOptionError {
  return new InvalidOptionError({
    field: "--host",
    value: host,
    rule: "must be this machine, unless a key is asked for",
    remedy: "set WINK_API_KEY or give --api-key, or leave --host out",
  });
}

/** What is wrong with a mount, in the words of `wink mount`. */
export function inMountFlags(error: unknown): unknown {
  if (!(error instanceof WinkError)) return error;
  return new ToldInFlags(error, error.message.replace(QUOTED_OR_NAMED, inWords));
}

/** The same failure, told otherwise. */
class ToldInFlags extends WinkError {
  override readonly name: string;

  constructor(error: WinkError, message: string) {
    super(message, { cause: error });
    this.name = error.name;
  }
}

/** The parts of `wink mount`, by what a message of the library calls them. */
const MOUNT_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^mounts\[0\]\.includeGlob\[\d+\]$/, "--include"],
  [/^mounts\[0\]\.excludeGlob\[\d+\]$/, "--exclude"],
  [/^allowSecrets\[\d+\]$/, "--allow-secret"],
  [/^mounts\[0\](?:\.hostPath)?$/, "PATH"],
  [/^excludeGlob$/, "--exclude"],
  [/^maxBytes$/, "--max-bytes"],
  [/^followSymlinks$/, "--follow-symlinks"],
  [/^is outside the allowed host roots/, "leads out of PATH: name it in --exclude"],
];

/** What is quoted is a name of the user's, and stays. */
const QUOTED_OR_NAMED =
  /is outside the allowed host roots, .*$|"(?:[^"\\]|\\.)*"|\b(?:mounts|allowSecrets)\[\d+\](?:\.\w+(?:\[\d+\])?)?|\b(?:excludeGlob|maxBytes|followSymlinks)\b/gs;

function inWords(found: string): string {
  return MOUNT_WORDS.find(([name]) => name.test(found))?.[1] ?? found;
}
