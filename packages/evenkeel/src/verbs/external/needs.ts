/**
 * Dependencies as inputs of a driver: `external(driver, { needs: { password: dependsOn(Secret, …) } })`.
 *
 *   needed object changes ──▶ run of the object ──▶ desired(object, needs) differs ──▶ update
 *
 * Invariants: `desired` is called with every need that is not optional; without one of them the resource is neither
 * created nor changed. A deletion does not wait for needs: they may be gone before the object. Only UID and
 * resourceVersion of a needed object are recorded, never its content.
 */
import { compareText, getOwn, isJsonObject, type KubeObject } from '#api'
import type { BaseContext, PluginRun, Reconciled } from '#controller'
import { DependencyVerb } from '../depends-on/dependency-verb.ts'
import type { DependsOn } from '../depends-on/depends-on.ts'
import type { Reference } from '../depends-on/reference.ts'

/** Dependencies by the name under which the driver gets them. */
export type NeedVerbs = Readonly<Record<string, DependsOn<unknown, unknown>>>

/** What a driver gets: each needed object, or undefined for an optional one that is not ready. */
export type NeedsOf<N> = {
  readonly [Name in keyof N]: N[Name] extends DependsOn<infer T, unknown, Reference, infer O>
    ? O extends true
      ? T | undefined
      : T
    : never
}

export type NeededObjects = Readonly<Record<string, KubeObject | undefined>>

/** Which state of a needed object the resource was last synced to. */
export interface NeedVersion {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

interface ResolvedNeeds {
  readonly objects: NeededObjects
  /** What is missing, for people; undefined if nothing is. */
  readonly missing: string | undefined
  /** When to look again. */
  readonly result: Reconciled
}

export type Needs = ReadonlyMap<string, DependencyVerb>

/** @throws {RangeError} for a need that is no `dependsOn(...)`. */
export function needsFrom(driver: string, verbs: NeedVerbs = {}): Needs {
  return new Map(
    Object.entries(verbs).map(([name, verb]): readonly [string, DependencyVerb] => {
      if (verb instanceof DependencyVerb) return [name, verb]
      throw new RangeError(`driver ${driver}: needs.${name} must be made by dependsOn(...)`)
    }),
  )
}

/** The needed objects of this run. In a cleanup, those that exist. */
export async function resolveNeeds(needs: Needs, context: Pick<BaseContext, 'signal'>): Promise<ResolvedNeeds> {
  const objects: [string, KubeObject | undefined][] = []
  const missing: string[] = []
  let result: Reconciled
  for (const [name, verb] of needs) {
    const { object, problem, result: again } = await verb.need(context)
    objects.push([name, object])
    if (problem === undefined) continue
    missing.push(`${name}: ${problem}`)
    result ??= again
  }
  return {
    objects: Object.fromEntries(objects),
    missing: missing.length === 0 ? undefined : missing.join('; '),
    result,
  }
}

/** The needed objects of any object, from the caches; undefined if one is missing. */
export function peekNeeds(needs: Needs, object: KubeObject, run: PluginRun): NeededObjects | undefined {
  const objects: [string, KubeObject | undefined][] = []
  for (const [name, verb] of needs) {
    const found = verb.peek(object, run)
    if (!found && !verb.optional) return undefined
    objects.push([name, found])
  }
  return Object.fromEntries(objects)
}

/** The versions of needed objects, in a stable order; undefined without any. */
export function versionsOf(objects: NeededObjects): readonly NeedVersion[] | undefined {
  const versions = Object.entries(objects)
    .flatMap(([name, object]) =>
      object ? [{ name, uid: object.metadata.uid ?? '', resourceVersion: object.metadata.resourceVersion ?? '' }] : [],
    )
    .sort((a, b) => compareText(a.name, b.name))
  return versions.length === 0 ? undefined : versions
}

/** Reads versions from untrusted data; malformed entries are dropped, so that the resource is synced again. */
export function readVersions(value: unknown): readonly NeedVersion[] | undefined {
  if (!Array.isArray(value)) return undefined
  const versions = value.filter(isJsonObject).flatMap((entry) => {
    const [name, uid, resourceVersion] = ['name', 'uid', 'resourceVersion'].map((field) => getOwn(entry, field))
    return typeof name === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string'
      ? [{ name, uid, resourceVersion }]
      : []
  })
  return versions.length === 0 ? undefined : versions
}
