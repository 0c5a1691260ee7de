/** The address of a store with its password, or what reads it for each new connection: a password may be rotated. */
export type StoreUrl = string | (() => string);

export function currentUrl(url: StoreUrl): string {
  return typeof url === 'string' ? url : url();
}
