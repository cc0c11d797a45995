/** A local port that counts connections. */
export interface CountingPort extends AsyncDisposable {
  readonly port: number;
  countConnections(): number;
}

/** Listens on a local port until disposed. */
export async function openCountingPort(): Promise<CountingPort> {
  const { createServer } = await import("node:net");
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    port: address.port,
    countConnections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
