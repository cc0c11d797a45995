/** The task of a process that acts as a machine. Passed to it as JSON. */
export interface MachineOrder {
  /** The provider's address. */
  readonly url: string;
  /** The folder that is used as the machine's disk. It has the host's folder `mount`, the run's folder and the result. */
  readonly disk: string;
  /** The folder of a PGlite database, or `null` for the server at WINK_POSTGRES. */
  readonly database: string | null;
  /** Schema of the tables. */
  readonly schema: string;
  /** The barrier of the evaluation at which the process kills itself, and which time; `null` runs to the end. */
  readonly killAt: { readonly barrier: string; readonly nth: number } | null;
}
