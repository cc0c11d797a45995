/** Resolves this package's entry points to their sources, for `node --import`. */
import { registerHooks } from "node:module";

const root = new URL("../../../src/", import.meta.url);

registerHooks({
  resolve(specifier, context, next) {
    const [, entry] = /^weakincentives(?:\/(\w+))?$/.exec(specifier) ?? [null, null];
    if (!/^weakincentives(?:\/|$)/.test(specifier)) return next(specifier, context);
    return next(new URL(entry ? `${entry}/index.ts` : "index.ts", root).href, context);
  },
});
