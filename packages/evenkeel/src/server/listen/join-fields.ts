/**
 * How the values of a repeated header become one text, for HTTP/1.1 and HTTP/2 alike.
 *
 * Invariant: a header that says who is meant is joined by what no value can hold. With a comma, a group called `a, b`
 * could not be told from two groups, and somebody would get the rights of the other.
 */
const identityHeaders = /^(?:impersonate|x-remote)-/

/** What stands between two values. */
export function separatorOf(name: string): string {
  if (name === 'cookie') return '; '
  return isIdentityHeader(name) ? '\n' : ', '
}

/** Whether each value of a header has to stay as it was sent. */
export function isIdentityHeader(name: string): boolean {
  return identityHeaders.test(name)
}
