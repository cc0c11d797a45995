/** Preloaded with `node --import`: programs import the sources instead of the built package. */
import { registerHooks } from "node:module";

const sources = new URL("../../../src/", import.meta.url);

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [, entry] = /^weakincentives(?:\/(\w+))?$/.exec(specifier) ?? [specifier, null];
    if (entry === null) return nextResolve(specifier, context);
    const file = entry === undefined ? "index.ts" : `${entry}/index.ts`;
    return nextResolve(new URL(file, sources).href, context);
  },
});
