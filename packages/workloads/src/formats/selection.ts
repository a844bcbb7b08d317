/**
 * A part of an application: the named workloads, and everything that they depend on.
 *
 *   web ──▶ api ──▶ db         select ['api'] is api and db
 *            └────▶ cache-svc ──▶ Process cache by its labels: also part of it, by dependsOn or by valueFrom of a variable
 *                        └──────▶ Endpoint that names cache-svc: also part of it
 *
 * Objects of other kinds (ConfigMaps, a user's own) are always part of it.
 */
import type { WorkloadObject } from './finding.ts'
import { workloadsVersion } from './shapes.ts'

interface ObjectReference {
  readonly kind?: string | undefined
  readonly name?: string | undefined
}

/** Every `dependsOn` of a spec, also in its templates. */
function dependenciesIn(spec: unknown): readonly ObjectReference[] {
  if (typeof spec !== 'object' || spec === null) return []
  const { dependsOn, template, spec: inner } = spec as Readonly<Record<string, unknown>>
  const own = Array.isArray(dependsOn) ? (dependsOn as readonly ObjectReference[]) : []
  return [...own, ...dependenciesIn(template), ...dependenciesIn(inner)]
}

/** The Services whose addresses are in variables of a spec, also in its templates. */
function addressesIn(spec: unknown): readonly ObjectReference[] {
  if (typeof spec !== 'object' || spec === null) return []
  const { env, template, spec: inner } = spec as Readonly<Record<string, unknown>>
  const own = (Array.isArray(env) ? (env as readonly Variable[]) : []).flatMap((one) => one?.valueFrom?.service ?? [])
  return [...own.map(({ name }) => ({ kind: 'Service', name })), ...addressesIn(template), ...addressesIn(inner)]
}

interface Variable {
  readonly valueFrom?: { readonly service?: ObjectReference }
}

interface Wired {
  /** Of an Endpoint. */
  readonly service?: string
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly networks?: readonly { readonly name?: string }[]
  readonly volumeMounts?: readonly { readonly volume?: string }[]
  readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
}

interface Selection<T> {
  readonly objects: readonly T[]
  /** Names that no workload has. */
  readonly unknown: readonly string[]
}

export function selectWorkloads<T extends { readonly object: WorkloadObject }>(
  objects: readonly T[],
  names: readonly string[],
): Selection<T> {
  const workloads = objects.filter(({ object }) => object.apiVersion === workloadsVersion)
  const called = (name: string): readonly T[] => workloads.filter(({ object }) => object.metadata.name === name)
  const chosen = new Set<T>()
  const waiting = names.flatMap(called)
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (chosen.has(next)) continue
    chosen.add(next)
    waiting.push(...neededBy(next.object, workloads))
  }
  return {
    objects: objects.filter((one) => one.object.apiVersion !== workloadsVersion || chosen.has(one)),
    unknown: names.filter((name) => called(name).length === 0),
  }
}

/**
 * What has to be there until an object is gone: what it refers to, and what is behind a Service that it refers to.
 *
 *   web ──▶ Service api ──▶ Process api        providers of web: both; of the Service: none, it goes together with what is behind it
 */
export function providersAmong<T extends { readonly object: WorkloadObject }>(
  object: WorkloadObject,
  workloads: readonly T[],
): readonly T[] {
  if (object.kind === 'Service') return []
  const own = neededBy(object, workloads)
  const behind = own.flatMap((one) => (one.object.kind === 'Service' ? neededBy(one.object, workloads) : []))
  return [...new Set([...own, ...behind])]
}

/** The workloads that an object refers to. */
function neededBy<T extends { readonly object: WorkloadObject }>(
  { kind, metadata, spec = {} }: WorkloadObject,
  workloads: readonly T[],
): readonly T[] {
  const { selector, networks = [], volumeMounts = [] } = spec as Wired
  const references: readonly ObjectReference[] = [
    ...dependenciesIn(spec),
    ...addressesIn(spec),
    ...networks.map(({ name }) => ({ kind: 'ContainerNetwork', name })),
    ...volumeMounts.map(({ volume }) => ({ kind: 'ContainerVolume', name: volume })),
  ]
  const labels = Object.entries(selector?.matchLabels ?? {})
  return workloads.filter(({ object }) => {
    const isNamed = references.some(
      ({ kind: of, name }) => name === object.metadata.name && (of === undefined || of === object.kind),
    )
    const own = { ...object.metadata.labels, ...(object.spec as Wired | undefined)?.template?.metadata?.labels }
    const isSelected = kind === 'Service' && labels.length > 0 && labels.every(([name, value]) => own[name] === value)
    const isEndpoint =
      kind === 'Service' && object.kind === 'Endpoint' && (object.spec as Wired | undefined)?.service === metadata.name
    return isNamed || isSelected || isEndpoint
  })
}
