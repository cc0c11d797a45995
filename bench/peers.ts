/**
 * Measures other SDKs, and what is possible with `node:http`, next to `fetch` and a loop by hand, on a stub of OpenAI's API. It
 * installs the SDKs if they are missing.
 */
import { ours, peers, rawFetch, rawHttp } from "./peers/clients.ts";
import { peerExtent, quickExtent } from "./peers/extents.ts";
import { installPeers } from "./peers/install-peers.ts";
import { measureInstalled, measureOurSize } from "./peers/installed-size.ts";
import { measureClients } from "./peers/measure-clients.ts";
import { printResult } from "./report/part-result.ts";

const extent = process.argv.includes("--quick") ? quickExtent : peerExtent;
const { installed, notes } = installPeers(peers);
const clients = [rawHttp, rawFetch, ...installed];
const samples = await measureClients(clients, extent, (metric) => metric !== "unread");

printResult({
  figures: [],
  clients: clients.map((client) => samples.summarize(client, rawFetch)),
  sizes: {
    [ours.name]: measureOurSize(),
    ...Object.fromEntries(installed.map((peer) => [peer.name, measureInstalled(peer.folder)])),
  },
  notes,
});
