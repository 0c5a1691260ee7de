/** Whether two names, `owner/name`, are of one repository: forges compare them without case. */
export function sameRepository(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
