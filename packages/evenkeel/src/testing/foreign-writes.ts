/**
 * Writes of another client: a user, another controller, an administrator with an editor.
 *
 * Each write is executed at once and completely, on the true state: without a cache, without discovery, without faults.
 * A refused write is a value, not an error: another client may come too late as well.
 */
import { stringifyJson } from '#api'
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { Transport } from '#wire'
import type { DeviationAction, ObjectReference } from './deviation.ts'
import type { History } from './history.ts'

/** The actor of these writes, and their field manager. */
export const otherClient = 'another-client'
/** A label and an annotation of another client: a controller that removes them overwrites fields it does not own. */
export const foreignKey = 'another-client.example.com/owned'
/** A label and an annotation that a mutating webhook adds on every write. */
export const admittedKey = 'another-client.example.com/admitted'
/** On an object that looks like a child and has no owner or a different one. */
export const neighbourLabel = 'another-client.example.com/neighbour'
/** On an object for which every effect fails. */
export const poisonLabel = 'another-client.example.com/poison'
export const foreignFinalizer = 'another-client.example.com/hold'

type ForeignAction = Exclude<
  Extract<DeviationAction, { readonly object: ObjectReference }>,
  { readonly type: 'amend' | 'poison' | 'deprive' | 'alter' }
>

/** Whether it is a single write of another client. */
export function isForeign(action: DeviationAction): action is ForeignAction {
  return 'object' in action && !['amend', 'poison', 'deprive', 'alter'].includes(action.type)
}

/** @returns whether the server accepted it */
export async function applyForeignAction(
  { type, object: reference }: ForeignAction,
  direct: DirectClient,
): Promise<boolean> {
  const object = direct.find(reference)
  return object !== undefined && (await applyToObject(type, object, direct))
}

async function applyToObject(
  type: ForeignAction['type'],
  object: UnstructuredObject,
  direct: DirectClient,
): Promise<boolean> {
  switch (type) {
    case 'delete':
      return direct.delete(object)
    case 'recreate': {
      const collectionPath = direct.collectionPathOf(object)
      const isGone = await direct.delete(object)
      return isGone && (await direct.create(asNew(object), collectionPath))
    }
    case 'neighbour': {
      const owner = direct.find({ kind: 'Namespace', namespace: '', name: object.metadata.namespace ?? 'default' })
      if (owner) await direct.create(neighbourOf(object, owner), direct.collectionPathOf(object))
      return direct.create(neighbourOf(object), direct.collectionPathOf(object))
    }
    case 'touch':
      return direct.patch(object, {
        metadata: { annotations: { [foreignKey]: 'set' }, labels: { [foreignKey]: 'set' } },
      })
    case 'finalize':
      return (
        object.metadata.deletionTimestamp === undefined &&
        (await direct.patch(object, {
          metadata: { finalizers: [...(object.metadata.finalizers ?? []), foreignFinalizer] },
        }))
      )
    case 'terminate': {
      const isHeld =
        object.metadata.deletionTimestamp === undefined &&
        (await direct.patch(object, {
          metadata: { finalizers: [...(object.metadata.finalizers ?? []), foreignFinalizer] },
        }))
      // Foreground: the children go first, so that a controller that creates them again is noticed.
      return isHeld && (await direct.delete(object, { propagationPolicy: 'Foreground' }))
    }
    default:
      return direct.update({ ...object, ...drifted(object) })
  }
}

/** The same labels and contents under another name, without an owner or with a different one. */
function neighbourOf(object: UnstructuredObject, owner?: UnstructuredObject): UnstructuredObject {
  const { metadata, ...rest } = asNew(object)
  const owners = owner && {
    ownerReferences: [
      {
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        name: owner.metadata.name ?? '',
        uid: owner.metadata.uid ?? '',
        controller: true,
      },
    ],
  }
  return {
    ...rest,
    metadata: {
      ...metadata,
      ...owners,
      name: `${object.metadata.name ?? ''}-${owner ? 'stranger' : 'neighbour'}`,
      annotations: { ...metadata.annotations, [neighbourLabel]: 'yes' },
    },
  } as UnstructuredObject
}

/** Removes the finalizers of the other client, so that deletions can end. */
export async function releaseForeignFinalizers(
  objects: Iterable<UnstructuredObject>,
  direct: DirectClient,
): Promise<void> {
  for (const object of objects) {
    const { finalizers = [] } = object.metadata
    if (!finalizers.includes(foreignFinalizer)) continue
    await direct.patch(object, { metadata: { finalizers: finalizers.filter((name) => name !== foreignFinalizer) } })
  }
}

/** The object as a client would create it from what it has read: without uid, versions, owners and status. */
export function asNew({
  metadata: { name, namespace, labels, annotations },
  status: _,
  ...rest
}: UnstructuredObject): UnstructuredObject {
  return {
    ...rest,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
  } as UnstructuredObject
}

/** `drift` in base64: what another client writes over encoded data. */
const driftedData = 'ZHJpZnQ='
/** What another client appends to a text. */
const driftedEnd = '-drifted'

/** Whether another client wrote this text over a value of the program. */
export function isDrifted(value: JsonValue): boolean {
  return typeof value === 'string' && (value === driftedData || value.endsWith(driftedEnd))
}

/** The first string or number outside metadata and status, changed: a controller may have set it. */
function drifted(object: UnstructuredObject): JsonObject {
  for (const [field, value] of Object.entries(object)) {
    if (['apiVersion', 'kind', 'metadata', 'status', 'type', 'immutable'].includes(field)) continue
    const changed = changedValue(value as JsonValue)
    if (changed !== undefined) return { [field]: changed }
  }
  return {}
}

function changedValue(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string')
    return /^[A-Za-z0-9+/]+=*$/.test(value) && value.length % 4 === 0 ? driftedData : `${value}${driftedEnd}`
  if (typeof value === 'boolean' || value === null || value === undefined) return undefined
  if (Array.isArray(value)) return undefined
  for (const [name, inner] of Object.entries(value as JsonObject)) {
    const changed = changedValue(inner)
    if (changed !== undefined) return { ...(value as JsonObject), [name]: changed }
  }
  return undefined
}

/** A write that is executed at once is never cancelled. */
const never = new AbortController().signal

/** Writes to the server without faults. The path of an object follows from its key in the store. */
export class DirectClient {
  readonly #transport: Transport
  readonly #history: Pick<History, 'objects'>
  readonly #name: string

  constructor(transport: Transport, history: Pick<History, 'objects'>, name: string) {
    this.#transport = transport
    this.#history = history
    this.#name = name
  }

  /** The current object of that kind and name. */
  find({
    kind,
    namespace,
    name,
  }: {
    readonly kind: string
    readonly namespace: string
    readonly name: string
  }): UnstructuredObject | undefined {
    for (const object of this.#history.objects.values()) {
      if (object.kind === kind && object.metadata.name === name && (object.metadata.namespace ?? '') === namespace)
        return object
    }
    return undefined
  }

  /** @returns whether the server accepted it */
  delete(object: UnstructuredObject, options: JsonValue = {}): Promise<boolean> {
    return this.#send('DELETE', this.#path(object), { body: options })
  }

  patch(object: UnstructuredObject, patch: JsonValue): Promise<boolean> {
    return this.#send('PATCH', this.#path(object), { body: patch, type: 'application/merge-patch+json' })
  }

  update(object: UnstructuredObject, subresource?: string): Promise<boolean> {
    return this.#send('PUT', subresource === undefined ? this.#path(object) : `${this.#path(object)}/${subresource}`, {
      body: object,
    })
  }

  /** The path at which objects like this one are created. */
  collectionPathOf(object: UnstructuredObject): string {
    const path = this.#path(object)
    return path.slice(0, path.lastIndexOf('/'))
  }

  /** @param collectionPath see `collectionPathOf` */
  create(object: UnstructuredObject, collectionPath: string): Promise<boolean> {
    return this.#send('POST', collectionPath, { body: object })
  }

  async #send(
    method: string,
    path: string,
    { body, type = 'application/json' }: { body: JsonValue | UnstructuredObject; type?: string },
  ): Promise<boolean> {
    const { status } = await this.#transport({
      method,
      target: `${path}?fieldManager=${this.#name}`,
      signal: never,
      body: Buffer.from(stringifyJson(body)),
      headers: { 'content-type': type, accept: 'application/json', 'user-agent': this.#name },
    })
    return status < 300
  }

  /** From the key `/default/GROUP/RESOURCE/NAMESPACE/NAME`. */
  #path(object: UnstructuredObject): string {
    const {
      apiVersion,
      metadata: { uid, namespace },
    } = object
    for (const [key, one] of this.#history.objects) {
      if (one.metadata.uid !== uid) continue
      const [, , , resource = '', ...rest] = key.split('/')
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
      return namespace === undefined
        ? `${root}/${resource}/${rest.join('/')}`
        : `${root}/namespaces/${namespace}/${resource}/${rest.slice(1).join('/')}`
    }
    return '/gone'
  }
}
