/**
 * The labels by which containers, networks and volumes are ours. They are the record of what was started: there is no other one, so
 * nothing can be lost between a create and its record.
 *
 *   …/session       the session that made it
 *   …/lifetime      session: it ends with Evenkeel, and the watchdog removes it; persistent: it stays
 *   …/uid           the object that it belongs to: the proof of ownership of a container
 *   …/object        NAMESPACE/NAME, for people, and the proof of ownership of a volume: it outlives its object
 *   …/run           the facts of a run, as JSON: number, cause, digests of the spec, restarts
 */
import type { Lifetime } from '../journal.ts'
import type { NamedPort } from '../ports.ts'
import type { RunOwner } from '../runs.ts'
import type { Labels } from './container-runtime.ts'

const prefix = 'workloads.evenkeel.dev'
export const labelOf = {
  session: `${prefix}/session`,
  lifetime: `${prefix}/lifetime`,
  uid: `${prefix}/uid`,
  object: `${prefix}/object`,
  run: `${prefix}/run`,
} as const

/** What is known about a run from the labels of its container. */
export interface RunLabel {
  readonly number: number
  readonly fingerprint: string
  readonly token?: string
  readonly cause: string
  readonly failures: number
  readonly restarts: number
  /** How long it gets when Evenkeel stops. */
  readonly graceSeconds: number
  readonly ports: readonly (NamedPort & { readonly containerPort: number })[]
  readonly variables: readonly string[]
}

export function ownerLabels(
  { uid, namespace, name }: RunOwner,
  { session, lifetime }: { readonly session: string; readonly lifetime: Lifetime },
): Labels {
  return {
    [labelOf.session]: session,
    [labelOf.lifetime]: lifetime,
    [labelOf.uid]: uid,
    [labelOf.object]: `${namespace}/${name}`,
  }
}

export function formatRunLabel(run: RunLabel): Labels {
  return { [labelOf.run]: JSON.stringify(run) }
}

/** The facts of a run; undefined for a container that has none. */
export function parseRunLabel(labels: Labels): RunLabel | undefined {
  try {
    const run = JSON.parse(labels[labelOf.run] ?? '') as Partial<RunLabel>
    const {
      number,
      fingerprint = '',
      token,
      cause = '',
      failures = 0,
      restarts = 0,
      graceSeconds = 10,
      ports = [],
      variables = [],
    } = run
    if (typeof number !== 'number') return undefined
    return {
      number,
      fingerprint,
      ...(token !== undefined && { token }),
      cause,
      failures,
      restarts,
      graceSeconds,
      ports,
      variables,
    }
  } catch {
    return undefined
  }
}

/** The object that something belongs to, from its label. */
export function ownerOf(labels: Labels): RunOwner | undefined {
  const uid = labels[labelOf.uid]
  const [namespace, name] = (labels[labelOf.object] ?? '').split('/')
  return uid === undefined || namespace === undefined || name === undefined ? undefined : { uid, namespace, name }
}
