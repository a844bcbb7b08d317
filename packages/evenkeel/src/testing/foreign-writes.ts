/**
 * What somebody else does to the world: the user, another controller, an administrator with an editor.
 *
 * Each is carried out at once and in full; that the object is not there (any more) is not an error.
 */
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { Transport } from '#wire'
import type { DeviationAction, ObjectReference } from './deviation.ts'
import type { History } from './history.ts'

/** The mark of somebody else: whoever takes it away has overwritten what is not theirs. */
export const foreignKey = 'somebody-else.example.com/mark'
/** What a webhook of somebody else puts on objects; it is put back by the next write. */
export const admittedKey = 'somebody-else.example.com/admitted'
/** On what somebody else made beside the children, to look like one. */
export const neighbourLabel = 'somebody-else.example.com/neighbour'
/** On an object for which everything is refused. */
export const poisonLabel = 'somebody-else.example.com/poison'
export const foreignFinalizer = 'somebody-else.example.com/hold'

type ForeignAction = Exclude<
  Extract<DeviationAction, { readonly object: ObjectReference }>,
  { readonly type: 'amend' | 'poison' | 'deprive' }
>

/** @returns whether it was possible */
export async function applyForeignAction(
  { type, object: place }: ForeignAction,
  direct: DirectClient,
): Promise<boolean> {
  const object = direct.find(place)
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
      const beside = direct.collectionPathOf(object)
      const isGone = await direct.delete(object)
      return isGone && (await direct.create(asNew(object), beside))
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
      // In the foreground: its children go first, and whoever makes them again is seen.
      return isHeld && (await direct.delete(object, { propagationPolicy: 'Foreground' }))
    }
    default:
      return direct.update({ ...object, ...drifted(object) })
  }
}

/** The same labels and contents under another name, without an owner or with another one. */
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

/** Takes the foreign finalizers away again, so that the world can end. */
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

/** The same object, as somebody would make it who has only read it. */
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

/** The same object with one value changed that a controller may have set: the first text or number outside metadata and status. */
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
    return /^[A-Za-z0-9+/]+=*$/.test(value) && value.length % 4 === 0 ? 'ZHJpZnQ=' : `${value}-drifted`
  if (typeof value === 'boolean' || value === null || value === undefined) return undefined
  if (Array.isArray(value)) return undefined
  for (const [name, inner] of Object.entries(value as JsonObject)) {
    const changed = changedValue(inner)
    if (changed !== undefined) return { ...(value as JsonObject), [name]: changed }
  }
  return undefined
}

/*
 * Somebody who changes the true world directly: no cache, no discovery, no faults.
 *
 * An object's path follows from where it lies in the store. A refusal is a value: whoever meddles can come too late.
 */

/** Nobody cancels what is done at once. */
const never = new AbortController().signal

export class DirectClient {
  readonly #transport: Transport
  readonly #history: Pick<History, 'objects'>
  readonly #name: string

  constructor(transport: Transport, history: Pick<History, 'objects'>, name: string) {
    this.#transport = transport
    this.#history = history
    this.#name = name
  }

  /** The object of that kind and name, as it is now. */
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

  /** @returns whether it was done */
  delete(object: UnstructuredObject, options: JsonValue = {}): Promise<boolean> {
    return this.#ask('DELETE', this.#path(object), { body: options })
  }

  patch(object: UnstructuredObject, patch: JsonValue): Promise<boolean> {
    return this.#ask('PATCH', this.#path(object), { body: patch, type: 'application/merge-patch+json' })
  }

  update(object: UnstructuredObject, subresource?: string): Promise<boolean> {
    return this.#ask('PUT', subresource === undefined ? this.#path(object) : `${this.#path(object)}/${subresource}`, {
      body: object as unknown as JsonValue,
    })
  }

  /** Where objects like this one are made. */
  collectionPathOf(object: UnstructuredObject): string {
    const path = this.#path(object)
    return path.slice(0, path.lastIndexOf('/'))
  }

  /** Makes an object where others like it are. */
  create(object: UnstructuredObject, beside: string): Promise<boolean> {
    return this.#ask('POST', beside, { body: object as unknown as JsonValue })
  }

  async #ask(
    method: string,
    path: string,
    { body, type = 'application/json' }: { body: JsonValue; type?: string },
  ): Promise<boolean> {
    const { status } = await this.#transport({
      method,
      target: `${path}?fieldManager=${this.#name}`,
      signal: never,
      body: Buffer.from(JSON.stringify(body)),
      headers: { 'content-type': type, accept: 'application/json', 'user-agent': this.#name },
    })
    return status < 300
  }

  /** `/default/GROUP/RESOURCE/NAMESPACE/NAME` is where it lies, and the rest follows. */
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
