/**
 * Deletions of whatever quotas count, as a source: kinds are added as quotas name them.
 *
 * Creations need not be heard of: the server charges them itself.
 */
import type { KubeObject, TypeMeta } from '#api'
import type { CacheEvent } from '#cache'
import { metadataOnly } from '#client'
import { kindSource } from '#controller'
import type { Source, SourceContext, StartedSource } from '#controller'
import { quotaKind } from './quota.ts'

export class CountedKinds implements Source {
  readonly name = 'counted objects'
  #started: StartedCountedKinds | undefined

  start(context: SourceContext): StartedSource {
    return (this.#started = new StartedCountedKinds(this.name, context))
  }

  /** Hears of this kind from now on. */
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
    predicates: [({ type: happened }: CacheEvent) => happened === 'delete'],
    handler: ({ key: { namespace } }, { cache }) =>
      cache.list(quotaKind, { ...(namespace !== undefined && { namespace }) }).map(({ metadata }) => ({
        name: metadata.name,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      })),
  })
}

/** Nothing but its name is of interest. */
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
