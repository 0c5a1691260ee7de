import { FORGES, type ForgeName } from './forges.ts';

/** Where a forge's API is, from the address that people use or from the API's own. */
export function apiUrlOf(forge: ForgeName, url: string): string {
  const { path, hosts = {}, subdomainOf } = FORGES[forge].api;
  const { protocol, host, origin, pathname } = new URL(url);
  const elsewhere = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  if (elsewhere !== undefined) {
    return elsewhere;
  }
  if (subdomainOf !== undefined && host.endsWith(subdomainOf)) {
    return host.startsWith('api.') ? `${protocol}//${host}` : `${protocol}//api.${host}`;
  }
  const base = `${origin}${pathname.replace(/\/+$/, '')}`;
  return base.endsWith(path) ? base : `${base}${path}`;
}
