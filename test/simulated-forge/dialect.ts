import type { IncomingHttpHeaders } from 'node:http';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import type { Checks } from './api/checks.ts';
import type { Answer, Call, Routes } from './routes.ts';

/** One forge's way of speaking: what differs between them before any route is reached and after it answered. */
export interface Dialect {
  readonly name: ForgeName;
  readonly prefix: string;
  /** Where its GraphQL is, which the routes know as `/graphql`. */
  readonly graphqlPath?: string;
  /** What a query is about: appended to that path, for faults and for what is seen. */
  graphqlTarget?(body: Readonly<Record<string, unknown>>): string;
  readonly routes: Routes;
  readonly checks?: Checks;
  login(headers: IncomingHttpHeaders): string | undefined;
  /** The path that is really meant, or where to send the client instead. */
  locate(method: string, path: string, search: string): { path: string } | { redirect: Answer };
  /** What is answered to anybody, by its whole path: a page for people, or a request without credentials. */
  open?(call: Call): Answer | undefined;
  readonly notFound: Answer;
  readonly unauthorized: Answer;
  /** What is answered before the route is reached: a limit, or a scope that the token lacks. */
  refuse(call: Call): Answer | undefined;
  /** Headers that every answer has, its validators, and 304 where one is due. */
  finish(call: Call, answer: Answer): Answer;
}
