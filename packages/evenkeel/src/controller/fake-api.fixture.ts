/**
 * An API server in a few lines, at the seam that clients know: enough of reads, writes, watches and deletion for
 * controllers, and faults on demand.
 */
import { Channel } from '#base'
import {
  alreadyExists,
  applyMergePatch,
  deepEqual,
  invalid,
  fieldError,
  FieldPath,
  isApiError,
  internalError,
  notFound,
  staleVersion,
  toStatus,
} from '#api'
import type { ApiError, JsonObject, JsonValue, Kind, KubeObject } from '#api'
import type { ClientOptions } from '#client'

type Transport = ClientOptions['transport']
type WireRequest = Parameters<Transport>[0]
type WireResponse = Awaited<ReturnType<Transport>>

/** A request as tests look at it. */
interface Asked {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete'
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly body: JsonObject
  readonly userAgent: string
  readonly target: string
}

export interface Loose extends KubeObject {
  readonly spec?: JsonObject
  readonly status?: JsonObject
  readonly data?: JsonObject
}

interface SentEvent {
  readonly type: string
  readonly object: Loose
  readonly version: number
  readonly kind: Kind
}

interface Watch {
  readonly kind: Kind
  readonly namespace: string
  readonly channel: Channel<Uint8Array, undefined>
}

export class FakeApi {
  readonly kinds: Kind[]
  readonly asked: Asked[] = []
  /** Called before a request is answered; what it gives or throws is the answer. */
  before: (asked: Asked) => ApiError | undefined | Promise<ApiError | undefined> = () => undefined
  /** Called when the request was carried out, before its answer is sent. */
  after: (asked: Asked) => void = () => undefined
  readonly #objects = new Map<string, Loose>()
  readonly #history: SentEvent[] = []
  readonly #watches = new Set<Watch>()
  #version = 10
  #uids = 0
  #held: SentEvent[] | undefined

  constructor(kinds: readonly Kind[]) {
    this.kinds = [...kinds]
  }

  /** Writes that were asked for, as `create Widget a/one`. */
  get writes(): string[] {
    return this.asked
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .map(
        ({ verb, kind, namespace, name, subresource }) =>
          `${verb} ${kind.kind}${subresource === '' ? '' : `/${subresource}`} ${namespace}/${name}`,
      )
  }

  get openWatches(): string[] {
    return [...this.#watches].filter(({ channel }) => channel.open).map(({ kind }) => kind.kind)
  }

  /** Keeps watch events to itself until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const event of held) this.#send(event)
  }

  /** Ends all watches; held events are delivered when the watches reconnect. */
  cut(): void {
    for (const { channel } of [...this.#watches]) channel.end(undefined)
  }

  find(kind: Kind, name: string, namespace = 'a'): Loose | undefined {
    return this.#objects.get(keyOf(kind, kind.scope === 'Cluster' ? '' : namespace, name))
  }

  list(kind: Kind): Loose[] {
    return [...this.#objects.values()].filter(
      (object) => object.kind === kind.kind && object.apiVersion === kind.apiVersion,
    )
  }

  /** What a user does: creates an object, or changes it by a merge patch. */
  put(kind: Kind, name: string, change: object = {}): Loose {
    const namespace = (change as Partial<KubeObject>).metadata?.namespace ?? 'a'
    const place = kind.scope === 'Cluster' ? '' : namespace
    const current = this.find(kind, name, namespace)
    if (!current)
      return this.#create(kind, {
        ...change,
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { ...(change as Partial<KubeObject>).metadata, name, ...(place !== '' && { namespace: place }) },
      })
    return this.#store(
      kind,
      current,
      applyMergePatch(current as unknown as JsonValue, change as JsonObject) as unknown as Loose,
    )
  }

  remove(kind: Kind, name: string, namespace = 'a'): Loose | undefined {
    const current = this.find(kind, name, namespace)
    if (!current) return undefined
    if ((current.metadata.finalizers ?? []).length === 0) {
      this.#drop(kind, current)
      return undefined
    }
    return this.#store(kind, current, {
      ...current,
      metadata: {
        ...current.metadata,
        deletionTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 0,
        ...(current.metadata.generation !== undefined && { generation: current.metadata.generation + 1 }),
      },
    })
  }

  /** A kind goes, and its objects with it. */
  undefine(kind: Kind): void {
    for (const object of this.list(kind)) this.#drop(kind, object)
    this.kinds.splice(this.kinds.indexOf(kind), 1)
    for (const watch of this.#watches) if (watch.kind === kind) watch.channel.end(undefined)
  }

  readonly transport: Transport = async (request) => {
    await Promise.resolve()
    try {
      const asked = await this.#read(request)
      this.asked.push(asked)
      const refusal = await this.before(asked)
      if (refusal) throw refusal
      const answer = this.#answer(asked, request)
      this.after(asked)
      await Promise.resolve()
      return answer
    } catch (error) {
      const failure = isApiError(error) ? error : internalError(error)
      return json(toStatus(failure), failure.code)
    }
  }

  async #read({ method, target, body, headers }: WireRequest): Promise<Asked> {
    const { pathname, searchParams } = new URL(target, 'http://fake')
    const parts = pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent)
    const [group = '', version = '', ...rest] = parts[0] === 'api' ? ['', ...parts.slice(1)] : parts.slice(1)
    const [namespace, plural = '', name = '', subresource = ''] =
      rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(1) : ['', ...rest]
    const kind = this.kinds.find((one) => one.group === group && one.version === version && one.plural === plural)
    if (!kind) throw notFound({ group, kind: plural, name: '' })
    const text = body instanceof Uint8Array ? Buffer.from(body).toString() : ''
    await Promise.resolve()
    return {
      verb: verbOf(method, {
        name,
        isWatch: searchParams.get('watch') === 'true' || searchParams.get('watch') === '1',
        isApply: headers['content-type']?.includes('apply') ?? false,
      }),
      kind,
      namespace: namespace ?? '',
      name,
      subresource,
      target,
      body: text === '' ? {} : (JSON.parse(text) as JsonObject),
      userAgent: headers['user-agent'] ?? '',
    }
  }

  #answer(asked: Asked, request: WireRequest): WireResponse {
    const { verb, kind, namespace } = asked
    if (verb === 'watch') return this.#watch(asked, request)
    if (verb === 'list')
      return json({
        apiVersion: kind.apiVersion,
        kind: kind.listKind,
        metadata: { resourceVersion: String(this.#version) },
        items: this.list(kind).filter(({ metadata }) => namespace === '' || metadata.namespace === namespace),
      })
    if (verb === 'create') return json(this.#create(kind, asked.body as unknown as Loose))
    const current = this.#objects.get(keyOf(kind, namespace, asked.name))
    if (!current && verb === 'apply') return json(this.#create(kind, asked.body as unknown as Loose))
    if (!current) throw notFound({ group: kind.group, kind: kind.plural, name: asked.name })
    if (verb === 'get') return json(current)
    if (verb === 'delete')
      return json(
        this.remove(kind, asked.name, namespace) ?? {
          apiVersion: 'v1',
          kind: 'Status',
          metadata: {},
          status: 'Success',
        },
      )
    return json(this.#change(asked, current))
  }

  #change({ verb, kind, body, subresource }: Asked, current: Loose): Loose {
    const { resourceVersion } = (body['metadata'] ?? {}) as { resourceVersion?: string }
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion)
      throw staleVersion({ group: kind.group, kind: kind.plural, name: current.metadata.name ?? '' })
    const merged =
      verb === 'update'
        ? (body as unknown as Loose)
        : (applyMergePatch(current as unknown as JsonValue, body) as unknown as Loose)
    const { status } = merged
    if (subresource === 'status') return this.#store(kind, current, { ...current, ...(status && { status }) })
    const { status: kept } = current
    const { status: _, ...rest } = merged
    return this.#store(kind, current, kind.subresources.status ? { ...rest, ...(kept && { status: kept }) } : merged)
  }

  #create(kind: Kind, given: Loose): Loose {
    const { name = '', namespace = '' } = given.metadata
    if (this.#objects.has(keyOf(kind, namespace, name)))
      throw alreadyExists({ group: kind.group, kind: kind.plural, name })
    const object = {
      ...given,
      metadata: {
        ...given.metadata,
        uid: `uid-${++this.#uids}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...(given.spec && { generation: 1 }),
      },
    }
    return this.#write('ADDED', kind, object)
  }

  /** Keeps what a server keeps: generation, deletion, no new finalizers for the dying. */
  #store(kind: Kind, current: Loose, next: Loose): Loose {
    const { finalizers = [], deletionTimestamp } = next.metadata
    const before = current.metadata.finalizers ?? []
    if (current.metadata.deletionTimestamp && finalizers.some((name) => !before.includes(name)))
      throw invalid({ group: kind.group, kind: kind.kind, name: next.metadata.name ?? '' }, [
        fieldError.forbidden(
          FieldPath.of('metadata', 'finalizers'),
          'no new finalizers can be added if the object is being deleted',
        ),
      ])
    if (deletionTimestamp && finalizers.length === 0) return this.#drop(kind, next)
    if (deepEqual(current, next)) return current
    const generation = deepEqual(current.spec, next.spec) ? {} : { generation: (current.metadata.generation ?? 0) + 1 }
    return this.#write('MODIFIED', kind, { ...next, metadata: { ...next.metadata, ...generation } })
  }

  #drop(kind: Kind, object: Loose): Loose {
    this.#objects.delete(keyOf(kind, object.metadata.namespace ?? '', object.metadata.name ?? ''))
    return this.#write('DELETED', kind, object)
  }

  #write(type: string, kind: Kind, given: Loose): Loose {
    const version = ++this.#version
    const object = {
      ...given,
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { ...given.metadata, resourceVersion: String(version) },
    }
    if (type !== 'DELETED')
      this.#objects.set(keyOf(kind, object.metadata.namespace ?? '', object.metadata.name ?? ''), object)
    const event: SentEvent = { type, object, version, kind }
    this.#history.push(event)
    if (this.#held) this.#held.push(event)
    else this.#send(event)
    return object
  }

  #send({ type, object, kind }: SentEvent): void {
    for (const watch of this.#watches) {
      if (watch.kind === kind && (watch.namespace === '' || watch.namespace === object.metadata.namespace))
        watch.channel.push(line(type, object))
    }
  }

  #watch({ kind, namespace, target }: Asked, { signal }: WireRequest): WireResponse {
    const parameters = new URL(target, 'http://fake').searchParams
    const from = Number(parameters.get('resourceVersion') ?? 0)
    const channel = new Channel<Uint8Array, undefined>({
      weightMax: 100_000,
      overflow: undefined,
      signal,
      onClose: () => {
        this.#watches.delete(watch)
      },
    })
    const watch: Watch = { kind, namespace, channel }
    const isInside = ({ metadata }: Loose): boolean => namespace === '' || metadata.namespace === namespace
    if (parameters.get('sendInitialEvents') === 'true') {
      for (const object of this.list(kind).filter(isInside)) channel.push(line('ADDED', object))
      channel.push(
        line('BOOKMARK', {
          apiVersion: kind.apiVersion,
          kind: kind.kind,
          metadata: { resourceVersion: String(this.#version), annotations: { 'k8s.io/initial-events-end': 'true' } },
        }),
      )
    } else {
      for (const event of this.#history)
        if (event.kind === kind && event.version > from && !this.#held?.includes(event) && isInside(event.object))
          channel.push(line(event.type, event.object))
    }
    this.#watches.add(watch)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: channel }
  }
}

function verbOf(
  method: string,
  { name, isWatch, isApply }: { name: string; isWatch: boolean; isApply: boolean },
): Asked['verb'] {
  if (method === 'GET') return isWatch ? 'watch' : name === '' ? 'list' : 'get'
  if (method === 'POST') return 'create'
  if (method === 'PUT') return 'update'
  return method === 'DELETE' ? 'delete' : isApply ? 'apply' : 'patch'
}

function keyOf({ apiVersion, kind }: Kind, namespace: string, name: string): string {
  return JSON.stringify([apiVersion, kind, namespace, name])
}

function line(type: string, object: KubeObject): Uint8Array {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`)
}

function json(value: unknown, status = 200): WireResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) }
}
