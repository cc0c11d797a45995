/** Resolves when the promise does, after `milliseconds`, or when the signal aborts. */
export async function waitFor(
  promise: Promise<void>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener("abort", finish);
    void promise.then(finish);
    if (signal.aborted) finish();
  });
}
