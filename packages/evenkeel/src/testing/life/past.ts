/**
 * What was in a service before the last thing was done to it: many clouds show that for a while.
 *
 * Only fields of its own that can be copied are remembered; what a service keeps elsewhere is always new.
 */
const pastStates = new WeakMap<object, Readonly<Record<string, unknown>>>()

/** Remembers a service as it is now. */
export function rememberServiceState(service: object): void {
  const past: [string, unknown][] = []
  for (const [field, value] of Object.entries(service)) {
    if (typeof value === 'object' && value !== null) past.push([field, copyOf(value)])
  }
  pastStates.set(service, Object.fromEntries(past))
}

/** Carries something out on the service as it was. Nothing else may happen meanwhile. */
export async function runOnPastState(service: object, carryOut: () => unknown): Promise<unknown> {
  const past = pastStates.get(service) ?? {}
  const now = Object.fromEntries(Object.keys(past).map((field) => [field, (service as Record<string, unknown>)[field]]))
  Object.assign(service, past)
  try {
    return await carryOut()
  } finally {
    Object.assign(service, now)
  }
}

function copyOf(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}
