/** A port of this machine that counts who connects. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  count(): number;
}

/** Listens on a port of this machine, until it is disposed of. */
export async function listening(): Promise<Listening> {
  const { createServer } = await import("node:net");
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("It has no port");
  return {
    port: address.port,
    count: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
