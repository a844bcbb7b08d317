/**
 * Writes the objects of the system into the store: in one batch, and only those that are missing or differ.
 *
 * Of an existing object only the fields that its record names are restored, and only while it has the labels of the
 * record: an APIService of a user with the same name has not. The annotation `apf.kubernetes.io/autoupdate-spec: "false"`
 * excludes an object of flow control.
 */
import { deepEqual, formatApiVersion, formatTime, getOwn, type UnstructuredObject } from '#api'
import { randomUuid, type Clock, type Logger, type Random } from '#base'
import { systemObjects, type Resource, type SystemObject } from '@evenkeel/builtins'
import type { Write } from '#store'
import type { Informers } from '../informers.ts'
import { objectKey, type Storage } from '../storage/storage.ts'
import { Unstamped, type StoredObject } from '../storage/stored-object.ts'
import { commitInParts } from './default-roles.ts'
import type { Registry } from './registry.ts'

export interface SystemObjectServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const attemptsMax = 10

/** The system objects of every server. @param serviceRanges of cluster IPs, as CIDRs */
export async function installSystemObjects(
  server: SystemObjectServices,
  serviceRanges: readonly string[],
): Promise<void> {
  const served = new Map(
    server.registry
      .all()
      .filter(({ custom }) => !custom)
      .map(({ group, version }) => [`${version}.${group}`, { group, version }]),
  )
  const now = formatTime(server.clock.now())
  await keepSystemObjects(systemObjects({ now, groupVersions: [...served.values()], serviceRanges }), server)
}

/** Writes the missing and restores the changed ones. Other servers may do the same at the same time. */
export async function keepSystemObjects(wanted: readonly SystemObject[], server: SystemObjectServices): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const present = await readPresent(wanted, server)
    const writes = wanted.flatMap((object) => writeOf(object, present, server) ?? [])
    if (writes.length === 0 || (await commitInParts(writes, server))) return
  }
  server.log.error('cannot write system objects: other writers kept changing them', {})
}

/** The stored objects of all kinds concerned, by key. */
async function readPresent(
  wanted: readonly SystemObject[],
  { storage, registry }: SystemObjectServices,
): Promise<Map<string, StoredObject>> {
  const places = new Map(
    wanted.map(({ group, plural, namespace = '' }) => [
      `${group}/${plural}/${namespace}`,
      { group, plural, namespace },
    ]),
  )
  const lists = await Promise.all(
    [...places.values()].map(async ({ group, plural, namespace }) => {
      const resource = registry.stored(group, plural)
      if (resource === undefined) return []
      const stored = await storage.list(resource, { namespace })
      return stored.map((one) => [keyOf(one.object.metadata, resource, storage), one] as const)
    }),
  )
  return new Map(lists.flat())
}

function keyOf(
  { namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string },
  { storage }: Resource,
  { cluster }: Storage,
): string {
  return objectKey(cluster, storage, { namespace, name })
}

function writeOf(
  wanted: SystemObject,
  present: ReadonlyMap<string, StoredObject>,
  { storage, registry, clock, random }: SystemObjectServices,
): Write | undefined {
  const resource = registry.stored(wanted.group, wanted.plural)
  if (resource === undefined) return undefined
  const key = keyOf(wanted, resource, storage)
  const found = present.get(key)
  const next = found
    ? restored(wanted, found.object)
    : created(wanted, resource, { uid: randomUuid(random), creationTimestamp: formatTime(clock.now()) })
  if (next === undefined) return undefined
  const { value, stampAt } = new Unstamped(next)
  return { key, value, stampAt, expect: found?.revision ?? 0 }
}

function created(
  { kind, namespace = '', name, labels, annotations, generation, fields }: SystemObject,
  { storage: { group, version } }: Resource,
  metadata: { readonly uid: string; readonly creationTimestamp: string },
): UnstructuredObject {
  return {
    kind,
    apiVersion: formatApiVersion({ group, version }),
    metadata: {
      name,
      ...(namespace !== '' && { namespace }),
      ...metadata,
      ...(generation !== undefined && { generation }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    ...fields,
  }
}

/** Undefined when nothing has to be restored. */
function restored(
  { labels = {}, fields, keeps = [] }: SystemObject,
  present: UnstructuredObject,
): UnstructuredObject | undefined {
  const { labels: own = {}, annotations = {}, generation } = present.metadata
  const isOurs = Object.keys(labels).every((key) => own[key] !== undefined)
  if (!isOurs || annotations['apf.kubernetes.io/autoupdate-spec'] === 'false') return undefined
  const changed = keeps.filter((key) => !deepEqual(getOwn(fields, key), getOwn(present, key)))
  if (changed.length === 0) return undefined
  const metadata = generation === undefined ? present.metadata : { ...present.metadata, generation: generation + 1 }
  return { ...present, metadata, ...Object.fromEntries(changed.map((key) => [key, fields[key]])) }
}
