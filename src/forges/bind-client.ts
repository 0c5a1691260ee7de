type Bound<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (client: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** The functions of an adapter, which take its client first, as methods of a forge. */
export function bindClient<Client, Part extends Record<string, (client: Client, ...rest: never[]) => unknown>>(
  client: Client,
  part: Part,
): Bound<Part> {
  const methods = Object.entries(part).map(([name, method]) => [name, (...rest: never[]) => method(client, ...rest)]);
  return Object.fromEntries(methods) as Bound<Part>;
}
