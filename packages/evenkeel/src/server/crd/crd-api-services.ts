/**
 * The APIServices of custom resources: one for each served group and version, as long as a CRD serves it.
 *
 * An APIService that a user made for the same group and version has no label of ours, and is left alone.
 */
import { formatTime } from '#api'
import { crdApiService, isCrdApiService } from '@evenkeel/builtins'
import { keepSystemObjects, type SystemObjectServices } from '../registry/system-objects.ts'
import { objectKey } from '../storage/storage.ts'

export class CrdApiServices {
  readonly #server: SystemObjectServices
  #published: string | undefined

  constructor(server: SystemObjectServices) {
    this.#server = server
  }

  /** Creates and removes APIServices, if the served versions are others than the last time. */
  async sync(): Promise<void> {
    const served = this.#servedVersions()
    const names = [...served.keys()].sort().join(' ')
    if (names === this.#published) return
    const now = formatTime(this.#server.clock.now())
    await keepSystemObjects(
      [...served.values()].map(({ group, version }) => crdApiService(group, version, now)),
      this.#server,
    )
    await this.#removeOthers(served)
    this.#published = names
  }

  #servedVersions(): Map<string, { readonly group: string; readonly version: string }> {
    const custom = this.#server.registry.all().filter((resource) => resource.custom)
    return new Map(custom.map(({ group, version }) => [`${version}.${group}`, { group, version }]))
  }

  async #removeOthers(served: ReadonlyMap<string, unknown>): Promise<void> {
    const { storage, registry } = this.#server
    const resource = registry.stored('apiregistration.k8s.io', 'apiservices')
    if (resource === undefined) return
    for (const { object, revision } of await storage.list(resource)) {
      const { name = '' } = object.metadata
      if (!isCrdApiService(object) || served.has(name)) continue
      // Another server on the same store may have removed it.
      await storage.store.commit({ key: objectKey(storage.cluster, resource.storage, { name }), expect: revision })
    }
  }
}
