/**
 * The objects that a binding names as parameters of its policy.
 *
 * They are read when they are needed: a parameter that was written is in force with the next write.
 */
import { labelRequirementsOf, matchesLabels, parseApiVersion } from '#api'
import type { JsonObject, LabelSelector, UnstructuredObject } from '#api'
import { objectIn, optionalObjectIn, textIn } from '../../builtin/rules/reading.ts'
import type { ServerContext, ResourceRef } from '../../call.ts'
import { prepareConversions, toServed } from '../../convert.ts'
import type { Resource } from '../../resources/resource.ts'
import { StoredObject } from '../../storage/bytes.ts'
import { keyPrefix, objectKey } from '../../storage/keys.ts'
import type { PolicyBinding, ParamKind } from './policy.ts'

/** A parameter that cannot be had: a mistake of the policy or its binding. */
export class ParamError extends Error {}

export class ParamResolver {
  readonly #server: Pick<ServerContext, 'store' | 'registry' | 'cluster'>
  #generation = 0
  readonly #known = new Map<string, Resource | undefined>()

  constructor(server: Pick<ServerContext, 'store' | 'registry' | 'cluster'>) {
    this.#server = server
  }

  /**
   * The resource that parameters of a kind are read from.
   *
   * @throws {ParamError} when none is served.
   */
  resourceOf({ apiVersion, kind }: ParamKind): Resource {
    const { registry } = this.#server
    const { group, version } = parseApiVersion(apiVersion)
    if (this.#generation !== registry.generation) this.#known.clear()
    this.#generation = registry.generation
    const key = `${apiVersion} ${kind}`
    if (!this.#known.has(key))
      this.#known.set(
        key,
        registry
          .all()
          .find((one) => one.kind === kind && one.group === group && one.version === version && !one.virtual),
      )
    const resource = this.#known.get(key)
    if (resource === undefined)
      throw new ParamError(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`)
    return resource
  }

  /**
   * The parameters for a write; one that is undefined where none are wanted.
   *
   * @throws {ParamError} when they cannot be had, or are missing and must not be.
   */
  async resolve(
    kind: ParamKind | undefined,
    { paramRef }: PolicyBinding,
    target: ResourceRef,
  ): Promise<readonly (UnstructuredObject | undefined)[]> {
    if (kind === undefined || paramRef === undefined) return [undefined]
    const resource = this.resourceOf(kind)
    const params = await this.#read(resource, paramRef, namespaceFor(resource, paramRef, target))
    if (params.length === 0 && textIn(paramRef, 'parameterNotFoundAction') === 'Deny') {
      throw new ParamError('no params found for policy binding with `Deny` parameterNotFoundAction')
    }
    return params
  }

  async #read(resource: Resource, paramRef: JsonObject, namespace: string): Promise<readonly UnstructuredObject[]> {
    const name = textIn(paramRef, 'name')
    if (name !== '') return this.#readOne(resource, { namespace, name })
    if (optionalObjectIn(paramRef, 'selector') === undefined)
      throw new ParamError('one of name or selector must be provided')
    const selector = labelRequirementsOf(objectIn(paramRef, 'selector') as unknown as LabelSelector) ?? []
    const { store, cluster } = this.#server
    const range = await store.range(keyPrefix(cluster, resource.storage, { namespace }))
    const stored = range.ok ? range.entries.map(({ value, revision }) => new StoredObject(value, revision)) : []
    const chosen = stored.filter(({ object }) => matchesLabels(selector, object.metadata.labels))
    return toServedObjects(chosen, resource)
  }

  async #readOne(
    resource: Resource,
    place: { namespace: string; name: string },
  ): Promise<readonly UnstructuredObject[]> {
    const { store, cluster } = this.#server
    const found = await store.get(objectKey(cluster, resource.storage, place))
    return found.ok && found.entry
      ? toServedObjects([new StoredObject(found.entry.value, found.entry.revision)], resource)
      : []
  }
}

function namespaceFor({ scope }: Resource, paramRef: JsonObject, { resource, namespace, name }: ResourceRef): string {
  const chosen = textIn(paramRef, 'namespace')
  if (scope === 'Cluster') {
    if (chosen !== '') throw new ParamError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
    return ''
  }
  const own = resource.group === '' && resource.plural === 'namespaces' ? name : namespace
  if (chosen === '' && own === '')
    throw new ParamError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  return chosen === '' ? own : chosen
}

async function toServedObjects(
  stored: readonly StoredObject[],
  resource: Resource,
): Promise<readonly UnstructuredObject[]> {
  await prepareConversions(stored, resource)
  return stored.map((one) => toServed(one, resource))
}
