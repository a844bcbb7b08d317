/**
 * What failures are called. Codes never change their meaning; docs/guides/cli.md lists them, and a test keeps the list whole.
 */

/** Every code, with what it means. */
export const failureCodes = {
  usage: 'the command was not understood',
  'not-built': 'this clone was not built yet',
  'no-server': 'no server is configured, or none answers',
  'not-let-in': 'the server does not know who asks',
  'not-allowed': 'the server knows who asks and refuses',
  'not-found': 'there is no such object',
  'unknown-kind': 'the server does not have such a kind',
  refused: 'the server refused the request',
  'bad-file': 'a file could not be read or understood',
  busy: 'a port or a folder is taken',
} as const
