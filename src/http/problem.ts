import { STATUS_CODES } from 'node:http';
import type { Context } from 'koa';

/** RFC 9457 problem details. The type is `about:blank`, so the title is the status's own phrase. */
export interface ProblemDetails {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  /** What the sender can do about it. Never a stack, a secret or a host name. */
  readonly detail?: string;
}

export const PROBLEM_JSON = 'application/problem+json';

export function problemDetails(status: number, detail?: string): ProblemDetails {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...(detail && { detail }) };
}

export function answerProblem(ctx: Context, status: number, detail?: string): void {
  ctx.status = status;
  ctx.body = problemDetails(status, detail);
  ctx.type = PROBLEM_JSON;
}
