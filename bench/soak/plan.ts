/**
 * What a soak consists of: how many of each, and how they are called.
 */

export const plan = {
  clients: 64,
  /** Those who watch all namespaces at once; the others watch one each. */
  wideWatchers: 8,
  watchers: 200,
  namespaces: 16,
  /** Objects that a client has at most. */
  objectsMax: 20,
  /** Between two requests of one client. */
  pauseMs: 150,
  /** Between two namespaces that are made and deleted. */
  churnPauseMs: 500,
  churnObjects: 10,
} as const

/** Users of the plane that are no administrators: limits and permissions hold for them. */
export const soakers: readonly string[] = Array.from({ length: 8 }, (_, index) => `soaker-${index}`)

export function soakToken(user: string): string {
  return `token-of-${user}`
}

export function namespaceOf(index: number): string {
  return `soak-${index % plan.namespaces}`
}
