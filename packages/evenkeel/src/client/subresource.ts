/**
 * Subresources. Their bodies are often of another kind than the object: `scale` takes Scale, `token` TokenRequest,
 * `eviction` Eviction.
 */
import type { KubeObject, Stored } from '#api'
import { abortable } from '#base'
import { locate, type ClientCore } from './core.ts'
import { getObject } from './reads.ts'
import { runRemoteCommand, type RemoteCommand, type RemoteCommandOptions } from './remote-command.ts'
import {
  formatTarget,
  type ApplyOptions,
  type CallOptions,
  type GetOptions,
  type PatchFromOptions,
  type PatchOptions,
  type WriteOptions,
} from './request-options.ts'
import { nameOf, type WriteResult } from './resource.ts'
import { textOf, type RestRequest } from './rest-client.ts'
import { applyObject, createObject, patchDifference, patchObject, updateObject, type PatchBody } from './writes.ts'

/** What `scale` is about, whatever the object. */
export interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status?: { readonly replicas: number; readonly selector?: string }
}

interface TextOptions extends CallOptions {
  /** Of the query: `tailLines`, `follow`. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>
}

export class Subresource {
  readonly #core: ClientCore
  readonly #name: string

  constructor(core: ClientCore, name: string) {
    if (!/^[a-z]+(?:\/.+)?$/.test(name))
      throw new RangeError(`a subresource is called like status or scale, got ${JSON.stringify(name)}`)
    this.#core = core
    this.#name = name
  }

  async get<T extends KubeObject>(object: KubeObject, options: GetOptions = {}): Promise<T> {
    return (await getObject(this.#core, object, { key: nameOf(object), subresource: this.#name, options })) as T
  }

  /** For those that speak no JSON, such as `log`. */
  async text(object: KubeObject, options: TextOptions = {}): Promise<string> {
    const { body } = await this.#core.rest.request(await this.#textRequest(object, options))
    return textOf(body)
  }

  /**
   * The same piece by piece, as long as the server sends: `log` with `follow: true`. Leaving the loop ends it.
   *
   * @throws {ApiError} when the server refuses.
   */
  async *stream(object: KubeObject, options: TextOptions = {}): AsyncGenerator<string, void, undefined> {
    const { pieces, signal, close } = await this.#core.rest.stream(await this.#textRequest(object, options))
    const decoder = new TextDecoder()
    try {
      for (;;) {
        const { done, value } = await abortable(pieces.next(), { signal })
        const text = decoder.decode(done ? undefined : value, { stream: !done })
        if (text !== '') yield text
        if (done) return
      }
    } finally {
      close()
      Promise.resolve(pieces.return?.()).catch(() => undefined)
    }
  }

  /**
   * Runs a command at an object with `exec`, or takes part in its terminal with `attach`, over a WebSocket.
   *
   * @throws {ApiError} when the server refuses.
   * @example
   * const { stdout, result } = await client.subresource('exec').connect(pod, { command: ['ls'], stderr: false })
   */
  connect(object: KubeObject, options: RemoteCommandOptions = {}): Promise<RemoteCommand> {
    return runRemoteCommand(this.#core, object, { subresource: this.#name, options })
  }

  async #textRequest(object: KubeObject, { signal, timeoutMs, parameters = {} }: TextOptions): Promise<RestRequest> {
    const { resource, location: place } = await locate(this.#core, object, {
      key: nameOf(object),
      signal,
      subresource: this.#name,
    })
    return { method: 'GET', target: formatTarget(resource, place, parameters), accept: '*/*', signal, timeoutMs }
  }

  /** Sends a body to the part: an Eviction, a TokenRequest, a Binding. */
  async create<T extends KubeObject>(object: KubeObject, body: T, options: WriteOptions = {}): Promise<T> {
    return (await createObject(this.#core, this.#target(object), { ...options, body })) as T
  }

  /** Replaces the part by what the object, or the body, says of it. */
  async update<R extends KubeObject>(
    object: R,
    { body, ...options }: WriteOptions & { body?: KubeObject } = {},
  ): Promise<Stored<R>> {
    return (await updateObject(this.#core, this.#target(object), { ...options, ...(body && { body }) })) as Stored<R>
  }

  async patch<R extends KubeObject>(object: R, patch: PatchBody, options: PatchOptions = {}): Promise<WriteResult<R>> {
    return (await patchObject(this.#core, this.#target(object), { ...options, patch })) as WriteResult<R>
  }

  /** Changes the part from one state to another, if the object is still in the first one; nothing is sent when nothing differs. */
  async patchFrom<T extends KubeObject>(from: T, to: T, options: PatchFromOptions = {}): Promise<Stored<T>> {
    return (await patchDifference(this.#core, this.#target(from), { ...options, to })) as Stored<T>
  }

  async apply<R extends KubeObject>(object: R, options: ApplyOptions = {}): Promise<Stored<R>> {
    return (await applyObject(this.#core, this.#target(object), options)) as Stored<R>
  }

  #target(object: KubeObject): { object: KubeObject; subresource: string } {
    return { object, subresource: this.#name }
  }
}
