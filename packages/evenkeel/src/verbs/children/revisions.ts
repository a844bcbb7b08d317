/**
 * Children that are never changed: each content has an object of its own, named after the parent and a digest of it.
 *
 * Whoever uses one (a Deployment that mounts a ConfigMap) is changed by using another, and can go back. Old ones stay as
 * far as `keep` says, and for as long as a child of the same run names them.
 *
 * @example
 * const configs = revisions(ConfigMap, { keep: 3 })
 * controllers: [{ for: Website, verbs: [configs], async reconcile(site, context) {
 *   const config = await configs.apply(context, { data: { page: site.spec.page } })
 * } }]
 */
import { getOwn } from '#api'
import type { JsonObject, JsonValue, Kind, KubeObject, ObjectMeta } from '#api'
import type { ReadOf } from '#client'
import type { ReconcileContext, Verb } from '#controller'
import type { DesiredOf } from './children.ts'
import { digestOf } from './making/digest.ts'
import { childrenOf } from './plugin.ts'

/** Digits of the digest in a name: enough for any number of revisions that is kept. */
const digits = 10

export interface RevisionsOptions {
  /** How many old ones stay. @default 2 */
  readonly keep?: number
  /** Which series it is, for a controller that has several of a kind; part of the names. @default none */
  readonly name?: string
}

export interface Revisions<K extends Kind> extends Verb {
  /** The revision of this content: made if there is none, and the same object as before if there was. */
  apply(context: Pick<ReconcileContext, 'signal' | 'key'>, desired: DesiredOf<K>): Promise<ReadOf<K>>
}

/** @throws {RangeError} for a number that cannot be meant. */
export function revisions<K extends Kind>(kind: K, { keep = 2, name }: RevisionsOptions = {}): Revisions<K> {
  if (!(Number.isInteger(keep) && keep >= 0))
    throw new RangeError(`keep must be a whole number of 0 or more, got ${keep}`)
  const series = name ?? kind.kind.toLowerCase()
  return {
    name: `revisions ${series}`,
    extend: () => ({ context: {} }),
    adds: () => ({ owns: [kind] }),
    async apply(context, desired) {
      const named = {
        ...desired,
        metadata: { ...desired.metadata, name: revisionName(context.key.name, desired, name) },
      }
      return (await childrenOf
        .get(context)
        .applyRevision(
          { kind, desired: named as unknown as KubeObject, options: { revisions: series } },
          keep,
        )) as ReadOf<K>
    },
  }
}

/** Parent, series and digest, within what a name may have. */
function revisionName(parent: string, desired: { readonly metadata?: ObjectMeta }, series: string | undefined): string {
  const { metadata, ...content } = JSON.parse(JSON.stringify(desired)) as {
    readonly metadata?: ObjectMeta
  } & JsonObject
  const kept: JsonObject = {
    labels: (metadata?.labels ?? {}) as JsonObject,
    annotations: (metadata?.annotations ?? {}) as JsonObject,
  }
  const digest = digestOf({
    ...content,
    metadata: kept,
    apiVersion: getOwn(content, 'apiVersion') ?? '',
  } as JsonValue).slice(0, digits)
  return `${[metadata?.name ?? parent, ...(series === undefined ? [] : [series])].join('-').slice(0, 253 - digits - 1)}-${digest}`
}
