/**
 * The verbs that read: get, list in one piece or page by page, watch.
 *
 * Objects are parsed for this caller alone and not frozen: freezing costs a third of parsing, and the object has no other
 * owner. Types are readonly all the same, because caches share their objects.
 */
import { isExpired, isJsonObject, type JsonObject, type KubeObject, type ListMeta, type ObjectList } from '#api'
import { ConnectionError } from './connection-error.ts'
import { finishObject, isObjectMissing, locate, nameMissingKind, subjectOf, type ClientCore } from './core.ts'
import {
  formatTarget,
  pageParameters,
  watchParameters,
  type GetOptions,
  type ListOptions,
  type ObjectName,
  type PageOptions,
  type WatchOptions,
} from './request-options.ts'
import { isMetadataKind, type KindLike, type Resource } from './resource.ts'
import type { RestRequest } from './rest-client.ts'
import { WatchStream } from './watch-stream.ts'

export async function getObject(
  core: ClientCore,
  kind: KindLike,
  {
    key,
    subresource,
    options: { resourceVersion, ...call },
  }: { key: ObjectName; subresource?: string; options: GetOptions },
): Promise<KubeObject> {
  // Without a name the path would be that of the collection.
  if (!key.name) throw new RangeError(`a ${kind.kind} cannot be read without a name: use list for all of them`)
  const { resource, location: place } = await locate(core, kind, { key, subresource, signal: call.signal })
  try {
    const object = await core.rest.json({
      method: 'GET',
      target: formatTarget(resource, place, { resourceVersion }),
      accept: acceptOf(kind, 'PartialObjectMetadata'),
      subject: subjectOf(resource, place),
      ...callOf(call),
    })
    return finishObject(object, resource)
  } catch (error) {
    throw nameMissingKind(error, resource)
  }
}

export async function findObject(
  core: ClientCore,
  kind: KindLike,
  { key, options }: { key: ObjectName; options: GetOptions },
): Promise<KubeObject | undefined> {
  try {
    return await getObject(core, kind, { key, options })
  } catch (error) {
    if (isObjectMissing(error)) return undefined
    throw error
  }
}

/**
 * All pages as one list, at one version.
 *
 * A token that expires on the way costs one more request: everything at once, from the beginning.
 */
export async function listObjects(
  core: ClientCore,
  kind: KindLike,
  options: ListOptions,
): Promise<ObjectList<KubeObject>> {
  const first = await listPage(core, kind, options)
  if (!first.metadata.continue) return first
  const items = [...first.items]
  try {
    for (let token: string | undefined = first.metadata.continue; token;) {
      const page: ObjectList<KubeObject> = await listPage(core, kind, { ...options, continue: token })
      for (const item of page.items) items.push(item)
      token = page.metadata.continue
    }
  } catch (error) {
    if (!isExpired(error)) throw error
    return await listPage(core, kind, { ...options, pageSize: 0 })
  }
  const { continue: _, remainingItemCount: __, ...metadata } = first.metadata
  return { ...first, metadata, items }
}

/** Page by page, at one version. A token that expires ends it with `Expired`: returned pages cannot be taken back. */
export async function* listPages(
  core: ClientCore,
  kind: KindLike,
  options: ListOptions,
): AsyncGenerator<ObjectList<KubeObject>, undefined> {
  let token: string | undefined
  do {
    const page: ObjectList<KubeObject> = await listPage(core, kind, { ...options, ...(token && { continue: token }) })
    yield page
    token = page.metadata.continue
  } while (token)
}

export async function listPage(
  core: ClientCore,
  kind: KindLike,
  options: PageOptions,
): Promise<ObjectList<KubeObject>> {
  const resource = core.mapper.find(kind) ?? (await core.mapper.resolve(kind, options))
  const target = formatTarget(resource, { namespace: options.namespace }, pageParameters(options))
  try {
    const list = await core.rest.json({
      method: 'GET',
      target,
      accept: acceptOf(kind, 'PartialObjectMetadataList'),
      subject: subjectOf(resource, {}),
      ...callOf(options),
    })
    return readList(list, resource)
  } catch (error) {
    throw nameMissingKind(error, resource)
  }
}

export function watchObjects(core: ClientCore, kind: KindLike, options: WatchOptions): WatchStream<KubeObject> {
  const type = { apiVersion: kind.apiVersion, kind: kind.kind }
  return new WatchStream<KubeObject>({
    lineBytesMax: core.watchLineBytesMax,
    finish: (object) => finishObject(object, type),
    begin: async () => {
      const resource = await core.mapper.resolve(kind, options)
      const target = formatTarget(resource, { namespace: options.namespace }, watchParameters(options))
      try {
        return await core.rest.stream({
          method: 'GET',
          target,
          accept: acceptOf(kind, 'PartialObjectMetadata', options),
          subject: subjectOf(resource, {}),
          ...callOf(options),
        })
      } catch (error) {
        throw nameMissingKind(error, resource)
      }
    },
  })
}

function readList(list: JsonObject, resource: Resource): ObjectList<KubeObject> {
  const { items, metadata } = list
  if (!Array.isArray(items) && items !== null) {
    throw new ConnectionError(
      `the answer to a list of ${resource.plural} is a ${String(list['kind'])} without items: is this a Kubernetes API server?`,
      { problem: 'garbled' },
    )
  }
  const isPartial = list['kind'] === 'PartialObjectMetadataList'
  const type = isPartial
    ? { apiVersion: resource.apiVersion, kind: `${resource.kind}List` }
    : { apiVersion: String(list['apiVersion']), kind: String(list['kind']) }
  return {
    ...type,
    metadata: (isJsonObject(metadata) ? metadata : {}) as ListMeta,
    items: (items ?? []).filter(isJsonObject).map((item) => finishObject(item, resource)),
  }
}

function acceptOf(
  kind: KindLike,
  shape: string,
  { mayOmitManagedFields = false }: Pick<WatchOptions, 'mayOmitManagedFields'> = {},
): string | undefined {
  if (isMetadataKind(kind)) return `application/json;as=${shape};g=meta.k8s.io;v=v1`
  return mayOmitManagedFields ? 'application/json;managedFields=optional, application/json' : undefined
}

function callOf({ signal, timeoutMs }: GetOptions): Pick<RestRequest, 'signal' | 'timeoutMs'> {
  return { signal, timeoutMs }
}
