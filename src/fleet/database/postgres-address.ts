import { InvalidOptionError } from "../../base/errors.ts";

/** Where a PostgreSQL server is. */
export interface PostgresAddress {
  /** The URL for the client, with the password. */
  readonly url: string;
  /** Host, port and database, for error messages. */
  readonly label: string;
}

/** Checks the URL of a PostgreSQL server. `field` is the option's name. No error shows the URL. */
export function parsePostgresAddress(url: string, field: string): PostgresAddress {
  try {
    const { protocol, username, password, host, pathname, searchParams } = new URL(url);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    if (protocol === "postgres:" || protocol === "postgresql:") {
      const place = searchParams.get("host") ?? decodeURIComponent(host);
      return { url, label: `${place || "localhost"}${decodeURIComponent(pathname)}` };
    }
  } catch {
    // not kept as the cause: Node's error quotes the URL
  }
  throw InvalidOptionError.at("Fleet.open(options)")(
    field,
    url,
    "must be a URL that starts with postgres:// or postgresql://",
    "use postgres://user:password@host:5432/database, with special characters percent-encoded",
    { secret: true },
  );
}
