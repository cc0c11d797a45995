/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** This process's own. */
export function hostVariables(): Variables {
  const entries = Object.entries(process.env);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
