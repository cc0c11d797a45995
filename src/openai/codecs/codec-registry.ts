import { InvalidOptionError } from "../../base/errors.ts";
import type { Codecs, HostedToolCodec } from "./codec.ts";
import { defaultCodecs } from "./index.ts";

/**
 * Combines the default codecs with the caller's, which replace the default codecs of their kinds.
 */
export function createCodecRegistry(given: Iterable<HostedToolCodec> = []): Codecs {
  const own = [...checkIterable(given)].map(checkCodec);
  return new Map([...defaultCodecs, ...own].map((codec) => [codec.kind, codec]));
}

function checkIterable(given: Iterable<HostedToolCodec>): Iterable<HostedToolCodec> {
  if (typeof given === "object" && typeof given?.[Symbol.iterator] === "function") return given;
  const remedy = "pass an array of codecs, or omit it for the defaults";
  throw new InvalidOptionError({ field, value: given, rule: "must be an array of codecs", remedy });
}

function checkCodec(codec: HostedToolCodec, index: number): HostedToolCodec {
  const { kind, serialize, parseOutput } = Object(codec) as Partial<HostedToolCodec>;
  const isCodec = typeof serialize === "function" && typeof parseOutput === "function";
  if (isCodec && typeof kind === "string" && kind !== "") return codec;
  throw new InvalidOptionError({
    field: `${field}[${index}]`,
    value: codec,
    rule: "must be a HostedToolCodec",
    remedy: "pass an object with kind, serialize(tool, env) and parseOutput(items, tool)",
  });
}

const field = "OpenAIAdapter.hostedToolCodecs";
