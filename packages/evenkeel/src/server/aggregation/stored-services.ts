/**
 * Services and EndpointSlices, read from the store, and a notice when one of them changes.
 *
 * They are watched only while an APIService names a service: a server without aggregated APIs does nothing for them.
 */
import { isJsonObject, type UnstructuredObject } from '#api'
import { assert, type Logger } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { Watch } from '#store'
import type { Registry } from '../registry/registry.ts'
import { keyPrefix, type Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { ServiceReader } from './service-address.ts'

interface StoredServicesOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly log: Logger
}

const serviceNameLabel = 'kubernetes.io/service-name'

export class StoredServices implements ServiceReader {
  readonly #storage: Storage
  readonly #services: Resource
  readonly #endpointSlices: Resource
  readonly #log: Logger
  #watches: Watch[] = []

  constructor({ storage, registry, log }: StoredServicesOptions) {
    this.#storage = storage
    this.#log = log
    this.#services = builtIn(registry, '', 'services')
    this.#endpointSlices = builtIn(registry, 'discovery.k8s.io', 'endpointslices')
  }

  async service(namespace: string, name: string): Promise<UnstructuredObject | undefined> {
    return (await this.#storage.get(name, { resource: this.#services, namespace, name }))?.object
  }

  async endpointSlices(namespace: string, name: string): Promise<readonly UnstructuredObject[]> {
    const { store, cluster } = this.#storage
    const range = await store.range(keyPrefix(cluster, this.#endpointSlices.storage, { namespace }))
    if (!range.ok) return []
    return range.entries
      .map(({ value, revision }) => new StoredObject(value, revision).object)
      .filter(({ metadata: { labels } }) => isJsonObject(labels) && labels[serviceNameLabel] === name)
  }

  /** Calls back after every change of either kind, until `unwatch`. */
  async watch(onChange: () => void): Promise<void> {
    if (this.#watches.length > 0) return
    const { store, cluster } = this.#storage
    const after = await store.head()
    this.#watches = [this.#services, this.#endpointSlices].map((resource) =>
      store.watch(keyPrefix(cluster, resource.storage), { after }),
    )
    for (const watch of this.#watches)
      this.#follow(watch, onChange).catch((error: unknown) => {
        this.#log.warn('watch of aggregated services failed: checking them at intervals only', { error })
      })
  }

  unwatch(): void {
    for (const watch of this.#watches) watch.close()
    this.#watches = []
  }

  async #follow(watch: Watch, onChange: () => void): Promise<void> {
    for await (const { changes } of watch) if (changes.length > 0) onChange()
  }
}

function builtIn(registry: Registry, group: string, plural: string): Resource {
  const resource = registry.stored(group, plural)
  assert(resource, `${plural} are built in`)
  return resource
}
