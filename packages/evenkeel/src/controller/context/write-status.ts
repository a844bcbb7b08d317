/**
 * Writes the collected status, if it says something new.
 *
 * It is a patch of what differs from the newest state we know, and only goes through if that state is still the one on
 * the server: lists such as conditions are replaced as a whole, and somebody else's must not be lost.
 */
import type { Logger } from '#base'
import { createMergePatch, deepEqual, getOwn, isJsonObject, isNotFound } from '#api'
import type { JsonObject, JsonValue, Kind, KubeObject } from '#api'
import type { ObjectCache } from '#cache'
import { peek } from './peek.ts'
import type { ReconcileClient } from './reconcile-client.ts'
import type { StatusWriter } from './status-writer.ts'

interface WriteStatusOptions {
  readonly object: KubeObject
  readonly client: ReconcileClient
  readonly cache: ObjectCache
  readonly dropped: DroppedFields
  readonly signal: AbortSignal
}

/** For a writer that was told something. An object that has gone has no status to write. @throws {ApiError} `Conflict`, when somebody was faster. */
export async function writeStatus(
  writer: StatusWriter<never>,
  { object, client, cache, dropped, signal }: WriteStatusOptions,
): Promise<void> {
  const { name = '', namespace } = object.metadata
  const newest = peek(cache, object, { name, ...(namespace !== undefined && { namespace }) })
  if (newest === undefined || newest.metadata.uid !== object.metadata.uid) return
  const current = statusOf(newest)
  const next = writer.next(current, { without: dropped.names })
  if (deepEqual(current, next)) return
  const patch = createMergePatch(current as JsonValue, next as JsonValue) as JsonObject
  try {
    const stored = await client
      .subresource('status')
      .patch(newest, { metadata: { resourceVersion: newest.metadata.resourceVersion }, status: patch }, { signal })
    dropped.learn(patch, statusOf(stored))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Fields of the status that the server does not keep, because the schema of the kind does not have them. */
export class DroppedFields {
  readonly #names = new Set<string>()
  readonly #log: Logger
  readonly #kind: string

  constructor({ kind, schema }: Pick<Kind, 'kind' | 'schema'>, { log }: { log: Logger }) {
    this.#kind = kind
    this.#log = log
    // Nobody asked for this one, so nobody needs to hear that there is no place for it.
    if (schema && !hasStatusField(schema, 'observedGeneration')) this.#names.add('observedGeneration')
  }

  get names(): ReadonlySet<string> {
    return this.#names
  }

  /** Without this, a field that is dropped would be written again by every run. */
  learn(sent: JsonObject, stored: JsonObject): void {
    for (const [name, value] of Object.entries(sent)) {
      const isEmpty =
        value === null ||
        (Array.isArray(value) && value.length === 0) ||
        (isJsonObject(value) && Object.keys(value).length === 0)
      if (isEmpty || this.#names.has(name) || getOwn(stored, name) !== undefined) continue
      this.#names.add(name)
      if (name !== 'observedGeneration')
        this.#log.warn('the server does not keep a field of the status: add it to the schema of the kind', {
          kind: this.#kind,
          field: `status.${name}`,
        })
    }
  }
}

function statusOf(object: KubeObject): JsonObject {
  const status: unknown = (object as { readonly status?: unknown }).status
  return isJsonObject(status) ? status : {}
}

function hasStatusField(schema: JsonObject, name: string): boolean {
  const { properties } = schema
  const status = isJsonObject(properties) ? getOwn(properties, 'status') : undefined
  if (!isJsonObject(status)) return true
  const isOpen = status['x-kubernetes-preserve-unknown-fields'] === true || status['additionalProperties'] === true
  return isOpen || !isJsonObject(status['properties']) || getOwn(status['properties'], name) !== undefined
}
