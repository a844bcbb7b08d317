/**
 * Objects that every cluster has: four namespaces, the Service of the API server, and the default RBAC roles and
 * bindings.
 *
 * Runs at every start and creates only what is missing; several servers on one store may run it at the same time.
 * The informers know the existing roles, so a start on a complete store reads and writes nothing. Existing roles
 * only gain missing rules, subjects and labels; the annotation `rbac.authorization.kubernetes.io/autoupdate:
 * "false"` excludes an object.
 */
import {
  deepEqual,
  formatTime,
  getOwn,
  isAlreadyExists,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '#api'
import { randomUuid, type Clock, type Logger, type Random } from '#base'
import {
  cachedRulesOf,
  defaultRbacObjects,
  rulesOf,
  toRuleObject,
  type DefaultRbacObject,
  type ObjectDraft,
} from '@evenkeel/builtins'
import { storeLimits, type Write } from '#store'
import { uncovered } from '../authz/policy-rules.ts'
import { rbacGroup } from '../authz/rbac.ts'
import type { CreateHandler } from '../handlers/create.ts'
import type { Informers } from '../informers.ts'
import { Warnings, type ResourceRef } from '../request-context.ts'
import { objectKey, type Storage } from '../storage/storage.ts'
import { Unstamped } from '../storage/stored-object.ts'
import type { Registry } from './registry.ts'

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

interface BootstrapServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly creates: CreateHandler
  readonly informers: Informers
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Creates missing objects. */
export async function bootstrap(server: BootstrapServices, { port }: { port: number }): Promise<void> {
  await Promise.all(namespaces.map((name) => ensure({ plural: 'namespaces', name, namespace: '', rest: {} }, server)))
  await ensure(
    {
      plural: 'services',
      name: 'kubernetes',
      namespace: 'default',
      rest: {
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          labels: { component: 'apiserver', provider: 'kubernetes' },
        },
        spec: {
          type: 'ClusterIP',
          clusterIP: '10.96.0.1',
          clusterIPs: ['10.96.0.1'],
          ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
        },
      },
    },
    server,
  )
  await installDefaultRoles(server)
}

interface BootstrapObject {
  readonly plural: string
  readonly name: string
  readonly namespace: string
  readonly rest: object
}

async function ensure({ plural, name, namespace, rest }: BootstrapObject, server: BootstrapServices): Promise<void> {
  const resource = server.registry.find('', 'v1', plural)
  if (resource === undefined) return
  const target: ResourceRef = { resource, namespace, name }
  if (await server.storage.get(name, target)) return
  const draft = (): ObjectDraft => ({
    apiVersion: 'v1',
    kind: resource.kind,
    metadata: { name },
    ...structuredClone(rest),
  })
  try {
    await server.creates.create(draft, { context: { warnings: new Warnings() }, target, dryRun: false })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

const attemptsMax = 10

/** Writes missing roles and bindings; the informers have them when this resolves. */
async function installDefaultRoles(server: BootstrapServices): Promise<void> {
  const wanted = defaultRbacObjects()
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const writes = wanted.flatMap((object) => writeOf(object, server) ?? [])
    const isDone = await commitInParts(writes, server)
    if (isDone && !writes.some(({ value }) => value === undefined)) return
  }
  server.log.error('the default roles kept changing while they were being written', {})
}

/** @returns whether everything was written; false after a lost race */
async function commitInParts(
  writes: readonly Write[],
  { storage: { store }, informers }: BootstrapServices,
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
  { informers, storage: { cluster }, clock, random }: BootstrapServices,
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
