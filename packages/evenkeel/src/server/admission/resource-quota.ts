/**
 * ResourceQuota: how many objects a namespace may have.
 *
 * A new object is charged before it is written: `status.used` of every quota that counts it grows by one, at the
 * revision that was read, or the write is refused. So concurrent writes never exceed the limit. An object that was
 * charged and then not written stays charged until the quota controller of the plane counts again; a quota that was
 * never counted limits nothing. Only objects are counted (`count/deployments.apps`, and short names for some core
 * kinds), not their requests (`requests.cpu`).
 *
 * Invariant: creates in one namespace are charged one after the other, so they do not lose races with each other.
 */
import {
  addQuantities,
  alreadyExists,
  compareQuantities,
  conflict,
  deepCopy,
  forbidden,
  formatGroupName,
  formatQuantity,
  objectIn,
  optionalObjectIn,
  parseQuantity,
  quantityOf,
  setOwn,
  textIn,
  textsIn,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import { assert } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import type { Informers } from '../informers.ts'
import type { Registry } from '../registry/registry.ts'
import type { ResourceRef } from '../request-context.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { admissionSubject, type AdmissionAttributes, type AdmissionPlugin } from './admission.ts'
import { NamespaceIndex } from './namespace-index.ts'

interface QuotaContext {
  readonly informers: Informers
  readonly registry: Registry
  readonly storage: Storage
}

/** Other writers may change a quota at the same time; in each round one of them succeeds. */
const attemptsMax = 100

/** The admission plugin that charges quotas. */
export function resourceQuotaPlugin({ informers, registry, storage }: QuotaContext): AdmissionPlugin {
  const known = new NamespaceIndex(informers.forResource('', 'resourcequotas'))
  const resource = quotaResource(registry)
  const turns = new KeyedMutex()
  const limiting = (names: readonly string[], namespace: string): readonly string[] =>
    known
      .in(namespace)
      .filter((quota) => limits(quota, names))
      .map(({ metadata: { name = '' } }) => name)
  return {
    name: 'ResourceQuota',
    handles: ({ operation, target }) =>
      operation === 'CREATE' &&
      target.namespace !== '' &&
      target.subresource === undefined &&
      known.has(target.namespace),
    async validate(object, admitted) {
      const { target, dryRun } = admitted
      const names = quotaResourceNames(target.resource, object)
      if (limiting(names, target.namespace).length === 0) return
      await refuseExisting(object, target, storage)
      await turns.runExclusive(target.namespace, async () => {
        const charge = new QuotaCharge({ names, object, admitted, storage })
        const found = limiting(names, target.namespace).map((name): ResourceRef => ({
          resource,
          namespace: target.namespace,
          name,
        }))
        // All quotas are checked before any is charged.
        for (const quota of found) await charge.check(quota)
        if (!dryRun) for (const quota of found) await charge.charge(quota)
      })
    },
  }
}

/**
 * Refuses early when the object exists already, so that no quota is charged for it. A generated name may exist by
 * chance; then another one is tried.
 *
 * @throws {ApiError} `AlreadyExists`
 */
async function refuseExisting(
  object: UnstructuredObject | undefined,
  target: ResourceRef,
  storage: Storage,
): Promise<void> {
  if (target.name === '' || object?.metadata.generateName) return
  const present = await storage.get(target.name, target)
  if (present)
    throw alreadyExists(admissionSubject(target, object), {
      terminating: present.object.metadata.deletionTimestamp !== undefined,
    })
}

interface QuotaChargeOptions {
  readonly names: readonly string[]
  readonly object: UnstructuredObject | undefined
  readonly admitted: AdmissionAttributes
  readonly storage: Storage
}

/** One object to be counted. */
class QuotaCharge {
  readonly #options: QuotaChargeOptions

  constructor(options: QuotaChargeOptions) {
    this.#options = options
  }

  /** @throws {ApiError} `Forbidden`, when the quota is used up. */
  async check(quota: ResourceRef): Promise<StoredObject | undefined> {
    const stored = await this.#options.storage.get(quota.name, quota)
    if (stored) this.#judge(stored.object)
    return stored
  }

  /** @throws {ApiError} `Forbidden`, when the quota is used up; `Conflict`, when it keeps changing. */
  async charge(quota: ResourceRef): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const stored = await this.check(quota)
      if (stored === undefined) return
      const next = this.#charged(stored.object)
      if ((await this.#options.storage.put(next, { target: quota, expect: stored.revision })).ok) return
    }
    throw conflict(
      { kind: 'resourcequotas', name: quota.name },
      'the quota kept changing while it was being charged; please try again',
    )
  }

  #judge(quota: UnstructuredObject): void {
    const {
      names,
      object,
      admitted: { target },
    } = this.#options
    const [hard, used] = ['hard', 'used'].map((part) => objectIn(objectIn(quota, 'status'), part)) as [
      JsonObject,
      JsonObject,
    ]
    const limited = names.filter((name) => textIn(hard, name) !== '')
    const name = quota.metadata.name ?? ''
    if (limited.some((one) => textIn(used, one) === '')) {
      throw forbidden(
        admissionSubject(target, object),
        `status unknown for quota: ${name}, resources: ${limited.toSorted().join(',')}`,
      )
    }
    const exceeded = limited
      .filter(
        (one) => compareQuantities(parseQuantity(oneMore(textIn(used, one))), parseQuantity(textIn(hard, one))) > 0,
      )
      .toSorted()
    if (exceeded.length === 0) return
    const show = (amountOf: (one: string) => string): string =>
      exceeded.map((one) => `${one}=${amountOf(one)}`).join(',')
    throw forbidden(
      admissionSubject(target, object),
      `exceeded quota: ${name}, requested: ${show(() => '1')}, used: ${show((one) => textIn(used, one))}, limited: ${show((one) => textIn(hard, one))}`,
    )
  }

  #charged(quota: UnstructuredObject): UnstructuredObject {
    const next = deepCopy(quota) as ObjectDraft
    const used = objectIn(objectIn(next, 'status'), 'used')
    for (const name of this.#options.names)
      if (textIn(used, name) !== '') setOwn(used, name, oneMore(textIn(used, name)))
    return next
  }
}

/** Whether a quota limits one of these names. Quotas with scopes select pods by their properties and are ignored. */
function limits(quota: UnstructuredObject, names: readonly string[]): boolean {
  const spec = objectIn(quota, 'spec')
  if (textsIn(spec, 'scopes').length > 0 || optionalObjectIn(spec, 'scopeSelector') !== undefined) return false
  const hard = objectIn(objectIn(quota, 'status'), 'hard')
  return names.some((name) => textIn(hard, name) !== '')
}

const one = quantityOf(1)

function oneMore(amount: string): string {
  return formatQuantity(addQuantities(parseQuantity(amount), one))
}

function quotaResource(registry: Registry): Resource {
  const resource = registry.find('', 'v1', 'resourcequotas')
  assert(resource, 'quotas are built in')
  return resource
}

const shortQuotaNames: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])

/** Empty for objects that are never counted. */
function quotaResourceNames(
  { storage: { group, plural } }: Pick<Resource, 'storage'>,
  object: UnstructuredObject | undefined,
): readonly string[] {
  if (plural === 'events' && group === '') return []
  const name = `count/${formatGroupName(plural, group)}`
  return group === '' && shortQuotaNames.has(plural) && !isOver(plural, object) ? [name, plural] : [name]
}

/** A finished Pod is still an object, but no longer counts as a running pod. */
function isOver(plural: string, object: UnstructuredObject | undefined): boolean {
  return plural === 'pods' && ['Succeeded', 'Failed'].includes(textIn(objectIn(object, 'status'), 'phase'))
}

/** A mutex for each key, in order of arrival. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs after all earlier calls for the same key have ended. */
  async runExclusive<T>(key: string, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const turn = before === undefined ? run() : before.then(run, run)
    this.#last.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    }
  }
}
