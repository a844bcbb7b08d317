/**
 * Usages: an object for each edge that says who uses what, and why. Our server refuses to delete what has one.
 *
 * A Usage belongs to the referer and is in its namespace, so it goes when the referer goes, without a finalizer.
 * `Usage` is for referers in a namespace, `ClusterUsage` for those in none: an owner cannot be elsewhere.
 */
import { compareText, deepEqual, defineKind, isNotFound, type Kind, type KubeObject } from '#api'
import type { BaseContext } from '#controller'
import { edgeHash } from './edges.ts'
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
    of: refSchema('What is used.', ['group', 'kind', 'name']),
    by: refSchema('Who uses it.', ['group', 'kind', 'name']),
    reason: { type: 'string', maxLength: 1024 },
  },
} as const

const columns = [
  { name: 'Kind', type: 'string', jsonPath: '.spec.of.kind' },
  { name: 'Of', type: 'string', jsonPath: '.spec.of.name' },
  { name: 'By', type: 'string', jsonPath: '.spec.by.name' },
  { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
] as const

/** Says that an object in the same namespace uses another one. */
export const Usage = defineKind({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'Usage',
  spec,
  printerColumns: columns,
})

/** Says that an object without a namespace uses another one. */
export const ClusterUsage = defineKind({
  group: 'evenkeel.dev',
  version: 'v1alpha1',
  kind: 'ClusterUsage',
  scope: 'Cluster',
  spec,
  printerColumns: columns,
})

/** By this label Usages of an object are found; the value is {@link usageLabelOf} it. */
export const usageLabel = 'evenkeel.dev/of'

export function usageLabelOf(of: ObjectRef): string {
  return edgeHash(refKey(of))
}

export interface UsageObject extends KubeObject {
  readonly spec?: {
    readonly of?: Partial<ObjectRef>
    readonly by?: Partial<ObjectRef> & { readonly uid?: string }
    readonly reason?: string
  }
}

/** The kind that a referer's Usages are of. */
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
  /** Those that belong to the referer. */
  readonly present: readonly UsageObject[]
}

/** Makes the Usages of a referer those that are wanted. */
export async function applyUsages(
  wanted: readonly DesiredUsage[],
  { base, referer, kind, present }: UsageContext,
): Promise<void> {
  const { client, signal } = base
  const names = new Set<string>()
  for (const usage of wanted) {
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

/** Takes Usages away, each only if it is still the one that was seen. */
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
      name: `use-${edgeHash(`${refKey(by)} ${refKey(of)}`)}`,
      ...(namespace !== undefined && { namespace }),
      labels: { [usageLabel]: usageLabelOf(of) },
    },
    spec: { of: { group: of.group, kind: of.kind, namespace: of.namespace, name: of.name }, by, reason },
  }
}
