import { InvalidArgumentError } from "commander";

/** Parses the number of a port. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError("Use an integer from 0 to 65535.");
}
