import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/**
 * Returns whether a host always means this machine: `localhost`, an address in `127.0.0.0/8`, or `::1`, also written in
 * full or as an IPv4-mapped address. Any other name depends on DNS, so it is not loopback.
 */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === "localhost";
  return LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}
