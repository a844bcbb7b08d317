/**
 * Somebody who changes the true world directly: no cache, no discovery, no faults.
 *
 * An object's path follows from where it lies in the store. A refusal is a value: whoever meddles can come too late.
 */
import type { JsonValue, UnstructuredObject } from '#api'
import type { Transport } from '#wire'
import type { History } from './chronicle.ts'

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
