import { InvalidArgumentError } from "commander";

/** Parses a positive integer. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a positive integer.");
}

/** Parses a number of seconds as milliseconds. */
export function parseSeconds(text: string): number {
  const milliseconds = /^\d{1,6}(?:\.\d+)?$/.test(text) ? Math.round(Number(text) * 1_000) : 0;
  if (milliseconds > 0) return milliseconds;
  throw new InvalidArgumentError("Use a positive number of seconds.");
}
