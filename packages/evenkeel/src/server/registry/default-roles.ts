/**
 * The default RBAC roles and bindings in the store.
 *
 * The informers know the existing ones, so a start on a complete store reads and writes nothing. Existing roles only gain
 * missing rules, subjects and labels; the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"` excludes an
 * object.
 */
import {
  deepEqual,
  formatTime,
  getOwn,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '#api'
import { randomUuid, type Clock, type Logger, type Random } from '#base'
import { cachedRulesOf, defaultRbacObjects, rulesOf, toRuleObject, type DefaultRbacObject } from '@evenkeel/builtins'
import { storeLimits, type Write } from '#store'
import { uncovered } from '../authz/policy-rules.ts'
import { rbacGroup } from '../authz/rbac.ts'
import type { Informers } from '../informers.ts'
import { objectKey, type Storage } from '../storage/storage.ts'
import { Unstamped } from '../storage/stored-object.ts'

interface DefaultRoleServices {
  readonly storage: Storage
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const attemptsMax = 10

/** Writes missing roles and bindings; the informers have them when this resolves. */
export async function installDefaultRoles(server: DefaultRoleServices): Promise<void> {
  const wanted = defaultRbacObjects()
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const writes = wanted.flatMap((object) => writeOf(object, server) ?? [])
    const isDone = await commitInParts(writes, server)
    if (isDone && !writes.some(({ value }) => value === undefined)) return
  }
  server.log.error('cannot write default roles: other writers kept changing them', {})
}

/** @returns whether everything was written; false after a lost race */
export async function commitInParts(
  writes: readonly Write[],
  { storage: { store }, informers }: Pick<DefaultRoleServices, 'storage' | 'informers'>,
): Promise<boolean> {
  let isDone = true
  for (let from = 0; from < writes.length; from += storeLimits.batchMax) {
    const { ok } = await store.commitAll(writes.slice(from, from + storeLimits.batchMax))
    isDone &&= ok
  }
  if (writes.length > 0) await informers.waitForRevision(await store.head())
  return isDone
}

function writeOf(
  object: DefaultRbacObject,
  { informers, storage: { cluster }, clock, random }: DefaultRoleServices,
): Write | undefined {
  const { plural, kind, namespace, name, fields } = object
  const key = objectKey(cluster, { group: rbacGroup, plural, version: 'v1', kind }, { namespace, name })
  const present = informers.forResource(rbacGroup, plural).get(name, { namespace })
  // A binding to another role is deleted now and created in the next round.
  if (present && mustRecreate(object, present)) return { key, expect: Number(present.metadata.resourceVersion) }
  const made = (): UnstructuredObject => ({
    kind,
    apiVersion: `${rbacGroup}/v1`,
    ...fields,
    metadata: {
      name,
      ...(namespace !== '' && { namespace }),
      uid: randomUuid(random),
      creationTimestamp: formatTime(clock.now()),
      ...defaultMetadata(object),
    },
  })
  const next = present ? reconcileDefault(object, present) : made()
  if (next === undefined) return undefined
  const { value, stampAt } = new Unstamped(next)
  return { key, value, stampAt, expect: Number(present?.metadata.resourceVersion ?? 0) }
}

const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate'
const labelled = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }

/** The labels and annotations of a new object. */
function defaultMetadata({ labels }: DefaultRbacObject): JsonObject {
  return { labels: { ...labelled, ...labels }, annotations: { [autoupdate]: 'true' } }
}

/** The object after reconciliation; undefined when it needs no change. */
function reconcileDefault(wanted: DefaultRbacObject, present: UnstructuredObject): UnstructuredObject | undefined {
  const { annotations = {}, labels = {} } = present.metadata
  if (annotations[autoupdate] === 'false') return undefined
  const metadata = {
    ...present.metadata,
    annotations: { [autoupdate]: 'true', ...annotations },
    labels: { ...labelled, ...wanted.labels, ...labels },
  }
  const next = { ...present, metadata, ...fieldsOf(wanted, present) }
  return deepEqual(next, present) ? undefined : next
}

/** The role of a binding is immutable: the binding must be replaced. */
function mustRecreate({ fields }: DefaultRbacObject, present: UnstructuredObject): boolean {
  return (
    present.metadata.annotations?.[autoupdate] !== 'false' &&
    !deepEqual(getOwn(fields, 'roleRef'), getOwn(present, 'roleRef'))
  )
}

function fieldsOf({ plural, fields }: DefaultRbacObject, present: UnstructuredObject): JsonObject {
  if (plural === 'rolebindings' || plural === 'clusterrolebindings')
    return withAll('subjects', listIn(fields, 'subjects'), present)
  const gathering = getOwn(fields, 'aggregationRule')
  if (gathering === undefined) return missingRules(fields, present)
  // The rules of an aggregated role come from the selected roles.
  const selectors = isJsonObject(gathering) ? listIn(gathering, 'clusterRoleSelectors') : []
  const own = getOwn(present, 'aggregationRule')
  return {
    aggregationRule: {
      ...(isJsonObject(own) && own),
      ...withAll('clusterRoleSelectors', selectors, isJsonObject(own) ? own : {}),
    },
  }
}

function missingRules(fields: JsonObject, present: UnstructuredObject): JsonObject {
  if (deepEqual(getOwn(fields, 'rules'), getOwn(present, 'rules'))) return {}
  const missing = uncovered(cachedRulesOf(present), rulesOf(fields)) ?? []
  return missing.length === 0 ? {} : { rules: [...listIn(present, 'rules'), ...missing.map(toRuleObject)] }
}

/** A list with all required items. */
function withAll(key: string, wanted: readonly JsonValue[], present: JsonObject | UnstructuredObject): JsonObject {
  const list = listIn(present, key)
  const missing = wanted.filter((item) => !list.some((other) => deepEqual(item, other)))
  return missing.length === 0 ? {} : { [key]: [...list, ...missing] }
}

function listIn(object: JsonObject | UnstructuredObject, key: string): readonly JsonValue[] {
  const value = getOwn(object as JsonObject, key)
  return Array.isArray(value) ? value : []
}
