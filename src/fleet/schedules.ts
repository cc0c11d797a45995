import {
  checkKnownKeys,
  getErrorMessage,
  InvalidOptionError,
  type KnownKeys,
} from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import type { Dispatch } from "./dispatch.ts";
import { checkPlace } from "./enqueue-run.ts";
import { parseScheduled } from "./scheduled-request.ts";

/** Options of `Fleet.schedule`. */
export interface ScheduleOptions {
  /** Name of the schedule: 1 to 100 letters, digits and `_ . -`. @default the name of the loop */
  readonly name?: string | undefined;
  /** Time zone of the expression, such as `"Europe/Berlin"`. @default "UTC" */
  readonly tz?: string | undefined;
  /** Priority of the runs. @default 0 */
  readonly priority?: number | undefined;
  /** Group of the runs. @default no group */
  readonly group?: string | undefined;
}

const scheduleKeys: KnownKeys<ScheduleOptions> = {
  group: true,
  name: true,
  priority: true,
  tz: true,
};

/** A request that is enqueued at the times of a cron expression. */
export interface Schedule {
  /** Name of the schedule. */
  readonly name: string;
  /** The cron expression. */
  readonly cron: string;
  /** Time zone of the expression. */
  readonly tz: string;
  /** Name of the loop. */
  readonly loop: string;
  /** Version of the loop. */
  readonly version: string;
  /** The request. */
  readonly request: unknown;
}

/** A loop whose requests can be scheduled. */
export interface SchedulableLoop {
  readonly name: string;
  readonly version: string;
  readonly limits: { readonly deadlineMs?: number | undefined };
  parseRequest(request: unknown): Promise<unknown>;
}

/** Requests that the queue enqueues at the times of cron expressions. */
export class Schedules {
  readonly #dispatch: Dispatch;

  constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch;
  }

  /** Adds a schedule, or replaces the one with the same name. */
  async add(
    loop: SchedulableLoop,
    cron: string,
    request: unknown,
    options: ScheduleOptions,
  ): Promise<void> {
    checkKnownKeys(options, "Fleet.schedule(options)", scheduleKeys);
    const { name = loop.name, tz: timezone = "UTC", priority, group } = options;
    if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name)) {
      const rule = "must be 1-100 letters, digits, _ . and -";
      throw refuse("name", name, rule, "omit it for the name of the loop");
    }
    checkPlace({ priority, group }, refuse);
    for (const [field, value] of Object.entries({ cron, tz: timezone })) {
      if (typeof value === "string" && value !== "") continue;
      throw refuse(field, value, "must be text", 'use "0 3 * * *" for 3 am every day, and "UTC"');
    }
    await loop.parseRequest(request);
    const { version, limits } = loop;
    const { deadlineMs } = limits;
    const data = { name, loop: loop.name, version, request, deadlineMs, priority, group };
    try {
      await this.#dispatch.schedule({ name, cron, timezone, data });
    } catch (error) {
      if (!isExpressionError(error)) throw error;
      const rule = `must be a cron expression and a time zone (${getErrorMessage(error)})`;
      throw refuse("cron", `${cron} ${timezone}`, rule, 'use "0 3 * * *" for 3 am every day');
    }
  }

  /** Returns all schedules. */
  async list(): Promise<readonly Schedule[]> {
    const stored = await this.#dispatch.listSchedules();
    return stored.flatMap(({ name, cron, timezone: tz, data }) => {
      const scheduled = isPlainObject(data) ? parseScheduled(data) : null;
      if (!scheduled) return [];
      const { loop, version, request } = scheduled;
      return [{ name, cron, tz, loop, version, request }];
    });
  }

  /** Removes a schedule. Does nothing if there is none with this name. */
  async remove(name: string): Promise<void> {
    await this.#dispatch.unschedule(name);
  }
}

const refuse = InvalidOptionError.at((name) => `Fleet.schedule(${name})`);

/** Returns whether an error is about the expression, and not about the database. */
function isExpressionError(error: unknown): boolean {
  return error instanceof Error && !("code" in error);
}
