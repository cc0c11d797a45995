import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** Parses the flags of a program. Ends the program with code 2 if one is unknown. */
export function parseOptions<T extends ParseArgsOptionsConfig>(options: T) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}
