/**
 * Usages: one object for each pair of referer and dependency. An Evenkeel server refuses to delete a used object.
 *
 * A Usage is owned by its referer and in the same namespace, so the garbage collector deletes it with the referer, without
 * a finalizer. `Usage` is for namespaced referers, `ClusterUsage` for cluster-scoped ones.
 */
import { compareText, deepEqual, defineKind, isNotFound, type Kind, type KubeObject } from '#api'
import type { BaseContext } from '#controller'
import { shortHash } from '../digest.ts'
import { refKey, refOf, type ObjectRef } from './reference.ts'

const refSchema = (description: string, required: readonly string[]) =>
  ({
    type: 'object',
    description,
    required,
    properties: {
      group: { type: 'string', maxLength: 253 },
      kind: { type: 'string', maxLength: 63 },
      namespace: { type: 'string', maxLength: 63 },
      name: { type: 'string', maxLength: 253 },
      uid: { type: 'string', maxLength: 63 },
    },
  }) as const

const spec = {
  type: 'object',
  required: ['of', 'by'],
  properties: {
    of: refSchema('The object in use.', ['group', 'kind', 'name']),
    by: refSchema('The object that uses it.', ['group', 'kind', 'name']),
    reason: { type: 'string', maxLength: 1024 },
  },
} as const

const columns = [
  { name: 'Kind', type: 'string', jsonPath: '.spec.of.kind' },
  { name: 'Of', type: 'string', jsonPath: '.spec.of.name' },
  { name: 'By', type: 'string', jsonPath: '.spec.by.name' },
  { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
] as const

/** A namespaced object uses another object. */
export const Usage = defineKind({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'Usage',
  spec,
  printerColumns: columns,
})

/** A cluster-scoped object uses another object. */
export const ClusterUsage = defineKind({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'ClusterUsage',
  scope: 'Cluster',
  spec,
  printerColumns: columns,
})

/** The label by which the Usages of an object are found; its value is {@link usageLabelOf} the object. */
export const usageLabel = 'evenkeel.dev/of'

export function usageLabelOf(of: ObjectRef): string {
  return shortHash(refKey(of))
}

export interface UsageObject extends KubeObject {
  readonly spec?: {
    readonly of?: Partial<ObjectRef>
    readonly by?: Partial<ObjectRef> & { readonly uid?: string }
    readonly reason?: string
  }
}

/** The kind of the Usages of a referer. */
export function usageKindFor({ scope }: Pick<Kind, 'scope'>): typeof Usage {
  return scope === 'Cluster' ? ClusterUsage : Usage
}

export interface DesiredUsage {
  readonly of: ObjectRef
  readonly reason: string
}

interface UsageContext {
  readonly base: BaseContext
  readonly referer: KubeObject
  readonly kind: typeof Usage
  /** The existing Usages of the referer. */
  readonly present: readonly UsageObject[]
}

/** Applies the desired Usages of a referer and deletes the others. */
export async function applyUsages(
  desired: readonly DesiredUsage[],
  { base, referer, kind, present }: UsageContext,
): Promise<void> {
  const { client, signal } = base
  const names = new Set<string>()
  for (const usage of desired) {
    const object = usageFor(referer, usage)
    names.add(object.metadata.name)
    const known = present.find(({ metadata }) => metadata.name === object.metadata.name)
    if (known && known.metadata.deletionTimestamp === undefined && deepEqual(known.spec as never, object.spec as never))
      continue
    await client.apply(kind, object as never, { owner: referer as never, force: true, signal })
  }
  await removeUsages(
    present.filter(
      ({ metadata: { name = '', deletionTimestamp } }) => !names.has(name) && deletionTimestamp === undefined,
    ),
    base,
  )
}

/** Deletes Usages, with their UID as precondition. */
async function removeUsages(usages: readonly UsageObject[], { client, signal }: BaseContext): Promise<void> {
  for (const usage of [...usages].sort((a, b) => compareText(a.metadata.name ?? '', b.metadata.name ?? ''))) {
    const { uid } = usage.metadata
    try {
      await client.delete(usage, { ...(uid !== undefined && { preconditions: { uid } }), signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

interface FinishedUsage {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels: Readonly<Record<string, string>>
  }
  readonly spec: { readonly of: ObjectRef; readonly by: ObjectRef & { readonly uid: string }; readonly reason: string }
}

function usageFor(referer: KubeObject, { of, reason }: DesiredUsage): FinishedUsage {
  const { namespace, uid = '' } = referer.metadata
  const by = { ...refOf(referer), uid }
  return {
    metadata: {
      name: `use-${shortHash(`${refKey(by)} ${refKey(of)}`)}`,
      ...(namespace !== undefined && { namespace }),
      labels: { [usageLabel]: usageLabelOf(of) },
    },
    spec: { of: { group: of.group, kind: of.kind, namespace: of.namespace, name: of.name }, by, reason },
  }
}
