/**
 * The amounts and names of a soak.
 */

export const plan = {
  clients: 64,
  /** Watchers of all namespaces; the others watch one each. */
  wideWatchers: 8,
  watchers: 200,
  namespaces: 16,
  /** The maximum number of objects of a client. */
  objectsMax: 20,
  /** Between two requests of one client. */
  pauseMs: 150,
  /** Between two namespaces that are created and deleted. */
  churnPauseMs: 500,
  churnObjects: 10,
} as const

/** Users without administrator rights: limits and authorization apply to them. */
export const soakers: readonly string[] = Array.from({ length: 8 }, (_, index) => `soaker-${index}`)

export function soakToken(user: string): string {
  return `token-of-${user}`
}

export function namespaceOf(index: number): string {
  return `soak-${index % plan.namespaces}`
}
