import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { type Accounts, hiddenAddress, type NamedAddress } from '../port/accounts.ts';
import type { GiteaClient } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/**
 * Reads the people who can be assigned, by one request: those who may write, whose approvals count. Each is
 * shown with the main address, or with the one that hides it. Nothing tells whose another address is.
 */
export async function accounts(
  client: GiteaClient,
  repository: string,
  asked: readonly NamedAddress[],
): Promise<Accounts> {
  const route = `${repositoryPath(repository)}/assignees`;
  const people = requireFound(await client.ask(route, shapes.assignees), `GET ${route}`);
  return new Map(asked.map(({ address }) => [address, ownerOf(address, people)]));
}

function ownerOf(address: string, people: z.output<typeof shapes.assignees>): string | null {
  const hidden = hiddenAddress(address);
  const owner =
    people.find(({ email }) => email.toLowerCase() === address) ??
    people.find(({ id }) => id === hidden?.id) ??
    people.find(({ login }) => hidden?.id === undefined && login.toLowerCase() === hidden?.login.toLowerCase());
  return owner?.login ?? null;
}
