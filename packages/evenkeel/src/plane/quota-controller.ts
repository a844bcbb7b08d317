/**
 * Counts the objects that ResourceQuotas limit, and writes `status.used`. The server itself charges new objects.
 *
 *   quota written, object deleted, resync ──▶ count ──higher, or first count──▶ write the status at once
 *                                                   └──lower──▶ write it when the quota is unchanged for a second
 *
 * The server charges an object just before it stores it. A count in between finds one object less than was charged and
 * must not revert the charge. So a lower count is written only if the quota has not changed for a second.
 *
 * Example: used 4, the server charges object 5 (used 5) and has not stored it yet. A count gives 4. The quota changed just
 * now, so the controller waits; a second later the count is 5, and nothing is written.
 *
 * Quotas with scopes, and resources that are not object counts (CPU, memory), are ignored.
 */
import {
  declareKind,
  deepEqual,
  isNotFound,
  type JsonValue,
  type Kind,
  type KubeObject,
  type Stored,
  type TypeMeta,
} from '#api'
import type { AbortOptions } from '#base'
import type { CacheEvent } from '#cache'
import { metadataOnly, type DiscoveredResource } from '#client'
import {
  kindSource,
  type BaseContext,
  type ControllerDeclaration,
  type ReconcileResult,
  type Source,
  type SourceContext,
  type StartedSource,
} from '#controller'

export interface QuotaControllerOptions {
  /** How often everything is counted again. @default 300_000 */
  readonly resyncMs?: number
}

/** How long a quota must be unchanged before a lower count is written. */
const quietMs = 1000

export function quotaController({ resyncMs = 300_000 }: QuotaControllerOptions = {}): ControllerDeclaration<
  typeof quotaKind
> {
  const kinds = new CountedKinds()
  const quietPeriods = new QuietPeriods()
  return {
    name: 'resourcequota-controller',
    for: quotaKind,
    concurrency: 5,
    sources: [kinds],
    resyncMs,
    rbac: [
      { apiGroups: [''], resources: ['resourcequotas/status'], verbs: ['update'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['list', 'watch'] },
    ],
    async reconcileKey({ namespace = '', name }, context): Promise<ReconcileResult | undefined> {
      const { client, signal } = context
      const quota = await read(client, { namespace, name }, { signal })
      if (quota === undefined || quota.spec?.scopes?.length || quota.spec?.scopeSelector !== undefined) return undefined
      const used = await countAll(quota, { kinds, client, signal })
      return updateUsage(quota, used, { context, quietPeriods })
    },
  }
}

/** Writes the status, or requeues until a lower count may be written. */
async function updateUsage(
  quota: Stored<QuotaObject>,
  used: Amounts,
  { context: { client, clock, signal }, quietPeriods }: { context: BaseContext; quietPeriods: QuietPeriods },
): Promise<ReconcileResult | undefined> {
  const { spec: { hard = {} } = {}, status = {} } = quota
  if (deepEqual(status.hard ?? {}, hard) && deepEqual(status.used ?? {}, used)) return undefined
  const isLower = Object.entries(used).some(([name, count]) => Number(count) < Number(status.used?.[name] ?? 0))
  const waitMs = isLower ? quietPeriods.left(quota, clock.monotonic()) : 0
  if (waitMs > 0) return { afterMs: waitMs }
  const isFirst = status.used === undefined
  await client.updateStatus({ ...quota, status: { hard, used } }, { signal })
  // Objects that were created during the first count were not charged: count once more.
  return isFirst ? { afterMs: quietMs } : undefined
}

/** Since when each quota is unchanged. */
class QuietPeriods {
  readonly #seen = new Map<string, { readonly version: string; readonly at: number }>()

  /** How much longer the quota must be unchanged. */
  left({ metadata: { uid, resourceVersion } }: Stored<QuotaObject>, now: number): number {
    const seen = this.#seen.get(uid)
    if (seen?.version !== resourceVersion) {
      this.#seen.set(uid, { version: resourceVersion, at: now })
      return quietMs
    }
    const leftMs = seen.at + quietMs - now
    if (leftMs <= 0) this.#seen.delete(uid)
    return Math.max(0, leftMs)
  }
}

// By a list request, because the RBAC role of this controller has no `get`.
async function read(
  client: ReadingClient,
  { namespace, name }: { namespace: string; name: string },
  options: AbortOptions,
): Promise<Stored<QuotaObject> | undefined> {
  const { items } = await client.list(quotaKind, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    live: true,
    ...options,
  })
  return items[0]
}

type ReadingClient = BaseContext['client']

interface CountOptions extends AbortOptions {
  readonly kinds: CountedKinds
  readonly client: ReadingClient
}

async function countAll(
  { spec: { hard = {} } = {}, metadata: { namespace = '' } }: Stored<QuotaObject>,
  options: CountOptions,
): Promise<Amounts> {
  const used: Record<string, string> = {}
  for (const name of Object.keys(hard)) {
    const resource = await findResource(name, options)
    if (resource === undefined) continue
    options.kinds.follow(resource)
    used[name] = String(await count(resource, { ...options, namespace, isRunning: name === 'pods' }))
  }
  return used
}

/** The resource that a quota name counts, if there is one and the server has it. */
async function findResource(
  name: string,
  { client, ...options }: CountOptions,
): Promise<DiscoveredResource | undefined> {
  const counted = countedResource(name)
  if (counted === undefined) return undefined
  for (const reload of [false, true]) {
    const resources = await client.resources({ ...(options.signal && { signal: options.signal }), reload })
    const found = resources.find(
      ({ group, plural, namespaced }) => namespaced && group === counted.group && plural === counted.plural,
    )
    if (found) return found
  }
  return undefined
}

async function count(
  { apiVersion, kind }: DiscoveredResource,
  { client, signal, namespace, isRunning }: CountOptions & { namespace: string; isRunning: boolean },
): Promise<number> {
  const type = metadataOnly({ apiVersion, kind })
  const options = { namespace, live: true, ...(signal && { signal }) }
  try {
    // `pods` counts pods that have not terminated.
    if (isRunning)
      return (await client.list(type, { ...options, fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' }))
        .items.length
    const { items, metadata } = await client.page(type, { namespace, pageSize: 1, ...(signal && { signal }) })
    if (metadata.continue === undefined || metadata.continue === '') return items.length
    return metadata.remainingItemCount === undefined
      ? (await client.list(type, options)).items.length
      : items.length + metadata.remainingItemCount
  } catch (error) {
    if (isNotFound(error)) return 0
    throw error
  }
}

export type Amounts = Readonly<Record<string, string>>

export interface QuotaObject extends KubeObject {
  readonly spec?: { readonly hard?: Amounts; readonly scopes?: readonly string[]; readonly scopeSelector?: JsonValue }
  readonly status?: { readonly hard?: Amounts; readonly used?: Amounts }
}

export const quotaKind: Kind<QuotaObject> = declareKind<QuotaObject>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
})

/** Core resources that are counted without the prefix `count/`. */
const shortNames: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])

/** The resource that a quota name counts; undefined for other amounts, such as CPU. */
export function countedResource(name: string): { readonly group: string; readonly plural: string } | undefined {
  if (shortNames.has(name)) return { group: '', plural: name }
  if (!name.startsWith('count/')) return undefined
  const rest = name.slice('count/'.length)
  const dot = rest.indexOf('.')
  return dot < 0 ? { group: '', plural: rest } : { group: rest.slice(dot + 1), plural: rest.slice(0, dot) }
}

/** A source of delete events of counted resources. Creations need no event: the server charges them itself. */
export class CountedKinds implements Source {
  readonly name = 'counted objects'
  #started: StartedCountedKinds | undefined

  start(context: SourceContext): StartedSource {
    return (this.#started = new StartedCountedKinds(this.name, context))
  }

  /** Watches this kind from now on. */
  follow(type: TypeMeta): void {
    this.#started?.follow(type)
  }
}

class StartedCountedKinds implements StartedSource {
  readonly name: string
  readonly hasSynced = true
  readonly problem = undefined
  readonly #context: SourceContext
  readonly #kinds = new Map<string, StartedSource>()

  constructor(name: string, context: SourceContext) {
    this.name = name
    this.#context = context
  }

  follow({ apiVersion, kind }: TypeMeta): void {
    const key = `${apiVersion} ${kind}`
    if (!this.#kinds.has(key)) this.#kinds.set(key, deletionsOf({ apiVersion, kind }).start(this.#context))
  }

  waitForSync(): Promise<void> {
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#kinds.values()].map((source) => source.stop()))
    this.#kinds.clear()
  }
}

function deletionsOf(type: TypeMeta): Source {
  return kindSource(metadataOnly(type), {
    name: `counted ${type.kind}`,
    transform: keepName,
    predicates: [({ type: eventType }: CacheEvent) => eventType === 'delete'],
    handler: ({ key: { namespace } }, { cache }) =>
      cache.list(quotaKind, { ...(namespace !== undefined && { namespace }) }).map(({ metadata }) => ({
        name: metadata.name,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      })),
  })
}

/** Keeps only the identity of an object in the cache. */
function keepName<T extends KubeObject>({
  apiVersion,
  kind,
  metadata: { name, namespace, uid, resourceVersion },
}: T): T {
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  } as T
}
