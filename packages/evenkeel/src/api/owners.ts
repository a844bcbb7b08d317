/**
 * Owner references. An owner is identified by its UID: an object that was deleted and created again under the same name
 * is a different owner, and must not adopt the dependents of the first one.
 *
 * Everything here is pure: a call that changes nothing returns the object that it was given.
 */
import { deepEqual } from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, type FieldError, type FieldPath } from './errors/field-error.ts'
import { parseApiVersion } from './group-version.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from './object.ts'

/** An object that can own others: it has been stored, so it has a UID. */
export type Owner = KubeObject & { readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string } }

interface OwnerReferenceOptions {
  /** Whether the owner, deleted in the foreground, waits for this object to go first. */
  readonly blockOwnerDeletion?: boolean
}

interface DedupedReferences {
  readonly kept: readonly OwnerReference[]
  readonly duplicateUids: readonly string[]
}

const brand = Symbol.for('evenkeel.AlreadyOwnedError')

/** The object has another controller; an object has at most one. */
export class AlreadyOwnedError extends Error {
  override readonly name = 'AlreadyOwnedError'
  /** The owner reference of that controller. */
  readonly owner: OwnerReference

  constructor(object: KubeObject, owner: OwnerReference) {
    const { namespace, name = '' } = object.metadata
    const which = namespace ? `${namespace}/${name}` : name
    super(
      `Object ${which} is already owned by another ${owner.kind} controller ${owner.name} (uid ${owner.uid}): ` +
        'give the object another name, or remove that reference first',
    )
    this.owner = owner
  }

  get [brand](): true {
    return true
  }
}

/** Whether something thrown is an {@link AlreadyOwnedError}, of this or another copy of the package. */
export function isAlreadyOwned(error: unknown): error is AlreadyOwnedError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true
}

/**
 * Returns the object with `owner` as its controller: changes of the object enqueue the owner, and the garbage collector
 * deletes the object after the owner.
 *
 * @example
 * const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'default' } }
 * await client.create(setControllerReference(site, config))
 *
 * @throws {AlreadyOwnedError} when the object has another controller, which may be an earlier object of the same name.
 * @throws {RangeError} when the owner is in another namespace, or in one while the object is in none.
 */
export function setControllerReference<T extends KubeObject>(
  owner: Owner,
  object: T,
  { blockOwnerDeletion = true }: OwnerReferenceOptions = {},
): T {
  const current = getControllerOf(object)
  if (current && current.uid !== owner.metadata.uid) throw new AlreadyOwnedError(object, current)
  return withReference(object, owner, { ...referenceTo(owner), controller: true, blockOwnerDeletion })
}

/**
 * Returns the object with `owner` among its owners: the garbage collector deletes the object when all of them are gone.
 *
 * @example
 * await client.update(setOwnerReference(secondSite, sharedConfig))
 *
 * @throws {RangeError} when the owner is in another namespace, or in one while the object is in none.
 */
export function setOwnerReference<T extends KubeObject>(
  owner: Owner,
  object: T,
  { blockOwnerDeletion }: OwnerReferenceOptions = {},
): T {
  return withReference(object, owner, {
    ...referenceTo(owner),
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  })
}

/** The object without any reference to `owner`. */
export function removeOwnerReference<T extends KubeObject>(owner: Owner, object: T): T {
  const references = object.metadata.ownerReferences ?? []
  const kept = references.filter(({ uid }) => uid !== owner.metadata.uid)
  if (kept.length === references.length) return object
  const { ownerReferences: _, ...metadata } = object.metadata
  return { ...object, metadata: kept.length > 0 ? { ...metadata, ownerReferences: kept } : metadata }
}

/**
 * Returns the owner reference of the object's controller, or undefined.
 *
 * @example
 * const owner = getControllerOf(pod)
 * console.log(owner ? `managed by ${owner.kind} ${owner.name}` : 'not managed')
 */
export function getControllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true)
}

/**
 * Whether an object has an owner reference to `owner`, compared by UID.
 *
 * @example
 * const { items } = await client.list(ConfigMap, { namespace: 'default' })
 * const own = items.filter((config) => isOwnedBy(config, site))
 */
export function isOwnedBy(object: KubeObject, owner: Owner): boolean {
  return object.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false
}

export function isControlledBy(object: KubeObject, owner: Owner): boolean {
  return getControllerOf(object)?.uid === owner.metadata.uid
}

/** The validation errors of owner references: missing fields, Events as owners, two controllers. */
export function validateOwnerReferences(references: readonly OwnerReference[], path: FieldPath): FieldError[] {
  let controller: string | undefined
  return errorsOfEach(references, (reference) => {
    const errors = [...validateReference(reference, path)]
    if (reference.controller !== true) return errors
    const here = `${reference.kind}/${reference.name}`
    if (controller === undefined) {
      controller = here
      return errors
    }
    const detail = `Only one reference can have Controller set to true. ${found(controller, here)}`
    return [...errors, fieldError.invalid(path, references, detail)]
  })
}

/** References without exact repetitions, and the UIDs that were repeated: the server drops them with a warning. */
export function dedupeOwnerReferences(references: readonly OwnerReference[]): DedupedReferences {
  const kept = new Map<string, OwnerReference>()
  const duplicateUids: string[] = []
  for (const reference of references) {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = reference
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (kept.has(key)) duplicateUids.push(uid)
    else kept.set(key, reference)
  }
  return { kept: duplicateUids.length > 0 ? [...kept.values()] : references, duplicateUids }
}

function found(first: string, second: string): string {
  return `Found "true" in references for ${first} and ${second}`
}

function referenceTo({ apiVersion, kind, metadata: { name, uid } }: Owner): OwnerReference {
  if (!apiVersion || !kind || !name || !uid) {
    const got = JSON.stringify({ apiVersion, kind, name, uid })
    throw new RangeError(
      `an owner needs apiVersion, kind, metadata.name and metadata.uid, got ${got}: use an object that was read from a server`,
    )
  }
  return { apiVersion, kind, name, uid }
}

function withReference<T extends KubeObject>(object: T, owner: Owner, reference: OwnerReference): T {
  checkReach(owner, object)
  const references = object.metadata.ownerReferences ?? []
  const index = references.findIndex(({ uid }) => uid === reference.uid)
  if (index >= 0 && deepEqual(references[index], reference)) return object
  const ownerReferences = index >= 0 ? references.with(index, reference) : [...references, reference]
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

// The collector looks for an owner in the namespace of its dependent, or among the cluster-scoped objects; an owner
// anywhere else does not exist for it, and the dependent would be deleted.
function checkReach(owner: Owner, object: KubeObject): void {
  const { namespace: home } = owner.metadata
  if (!home) return
  const { namespace } = object.metadata
  if (!namespace)
    throw new RangeError(`cluster-scoped resource must not have a namespace-scoped owner, owner's namespace ${home}`)
  if (namespace !== home) {
    throw new RangeError(
      `cross-namespace owner references are disallowed, owner's namespace ${home}, obj's namespace ${namespace}`,
    )
  }
}

function validateReference(reference: OwnerReference, path: FieldPath): FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<OwnerReference>
  const { group, version } = lenientApiVersion(apiVersion)
  const errors: FieldError[] = []
  if (!version) errors.push(fieldError.invalid(path.child('apiVersion'), apiVersion, 'version must not be empty'))
  if (!kind) errors.push(fieldError.invalid(path.child('kind'), kind, 'must not be empty'))
  if (!name) errors.push(fieldError.invalid(path.child('name'), name, 'must not be empty'))
  if (!uid) errors.push(fieldError.invalid(path.child('uid'), uid, 'must not be empty'))
  if (group === '' && version === 'v1' && kind === 'Event') {
    errors.push(fieldError.invalid(path, reference, '/v1, Kind=Event is disallowed from being an owner'))
  }
  return errors
}

function lenientApiVersion(apiVersion: string): { group: string; version: string } {
  return apiVersion.split('/').length > 2 ? { group: '', version: '' } : parseApiVersion(apiVersion)
}
