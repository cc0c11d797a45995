/**
 * What `work` gives, unless `signal` aborts first: then its reason is thrown at once, and how
 * `work` ends no longer matters to anybody.
 */
export async function orAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (!signal) return await work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
