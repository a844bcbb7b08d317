/**
 * A collection of a server, in a few lines: history, versions, lists in pages, watches; and faults on demand.
 */
import { expired, resourceVersionTooLarge, type KubeObject } from '#api'
import { Channel } from '#base'
import { Item } from './items.ts'
import type { ListPage, ListRequest, ListWatch, StreamEvent, WatchRequest } from './list-watch.ts'

export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number; readonly tags?: readonly string[]; readonly note?: string }
}

interface Written {
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly size?: number
  readonly tags?: readonly string[]
}

interface HistoryEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Widget
  readonly version: number
}

type WatchChannel = Channel<readonly StreamEvent<Widget>[], Error | undefined>

/** What was asked of the server, as short texts: `list 0 limit=500`, `stream 12`, `watch 12`. */
export class FakeServer implements ListWatch<Widget> {
  readonly calls: string[] = []
  readonly objects = new Map<string, Widget>()
  /** Thrown by the next calls, in order; undefined lets one pass. */
  readonly failures: (Error | undefined)[] = []
  readonly history: HistoryEvent[] = []
  readonly watches = new Set<WatchChannel>()
  version = 10
  /** Versions below are forgotten. */
  compacted = 0
  /** Objects per page at most, whatever the limit says; lists at "0" are paged as well. */
  pageSize = Infinity
  canStream = true
  /** Watches that are opened say nothing more, not even what happens. */
  isMute = false
  /** Streamed lists without an end. */
  isEndless = false
  #uids = 0

  put(name: string, { namespace = 'a', labels, size, tags }: Written = {}): Widget {
    const key = `${namespace}/${name}`
    const old = this.objects.get(key)
    const version = ++this.version
    const object: Widget = {
      apiVersion: 'test.dev/v1',
      kind: 'Widget',
      metadata: {
        name,
        namespace,
        uid: old?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: String(version),
        ...(labels && { labels }),
      },
      spec: { ...(size !== undefined && { size }), ...(tags && { tags }) },
    }
    this.objects.set(key, object)
    this.#record({ type: old ? 'MODIFIED' : 'ADDED', object, version })
    return object
  }

  remove(name: string, namespace = 'a'): void {
    const old = this.objects.get(`${namespace}/${name}`)
    if (!old) return
    this.objects.delete(`${namespace}/${name}`)
    const version = ++this.version
    this.#record({
      type: 'DELETED',
      object: { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } },
      version,
    })
  }

  bookmark(): void {
    this.#send([{ type: 'BOOKMARK', version: String(this.version), initialEventsEnd: false }])
  }

  /** Ends all watches: cleanly, or with an error. */
  cut(error?: Error): void {
    for (const watch of this.watches) watch.end(error)
    this.watches.clear()
  }

  /** The connections of all watches are dead, without an error or an end. */
  lose(): void {
    this.watches.clear()
  }

  compact(): void {
    this.compacted = this.version
  }

  list({ resourceVersion = '', limit, continue: token }: ListRequest): Promise<ListPage<Widget>> {
    this.calls.push(
      token === undefined
        ? `list ${JSON.stringify(resourceVersion)}${limit === undefined ? '' : ` limit=${limit}`}`
        : `list continue=${token}`,
    )
    return this.#maybeFail(() => {
      const all = [...this.objects.values()].map((object) => Item.ofObject(structuredClone(object)))
      const start = Number(token ?? 0)
      const end = limit === undefined ? all.length : start + Math.min(limit, this.pageSize)
      return {
        items: all.slice(start, end),
        resourceVersion: String(this.version),
        continue: end < all.length ? String(end) : '',
      }
    })
  }

  async *watch({
    resourceVersion,
    sendInitialEvents,
    signal,
  }: WatchRequest): AsyncGenerator<readonly StreamEvent<Widget>[]> {
    this.calls.push(`${sendInitialEvents ? 'stream' : 'watch'} ${JSON.stringify(resourceVersion)}`)
    const { channel, begin } = await this.#maybeFail(() => {
      signal.throwIfAborted()
      const opening = this.#opening(resourceVersion, sendInitialEvents === true)
      const opened: WatchChannel = new Channel<readonly StreamEvent<Widget>[], Error | undefined>({
        weightMax: 1_000_000,
        overflow: undefined,
        signal,
      })
      this.watches.add(opened)
      return { channel: opened, begin: opening }
    })
    yield []
    if (begin.length > 0) yield begin
    for (;;) {
      const { done, value } = await channel.next()
      if (!done) yield value
      else if (value) throw value
      else return
    }
  }

  find({ namespace, name }: { namespace: string; name: string }): Promise<Item<Widget> | undefined> {
    this.calls.push(`find ${namespace}/${name}`)
    return this.#maybeFail(() => {
      const object = this.objects.get(`${namespace}/${name}`)
      return object && Item.ofObject(structuredClone(object))
    })
  }

  #opening(resourceVersion: string, isStream: boolean): StreamEvent<Widget>[] {
    if (Number(resourceVersion) > this.version) throw resourceVersionTooLarge(resourceVersion, String(this.version))
    if (isStream && this.canStream) {
      const arrivals = [...this.objects.values()].map(arrivalOf)
      return this.isEndless
        ? arrivals
        : [...arrivals, { type: 'BOOKMARK', version: String(this.version), initialEventsEnd: true }]
    }
    if (Number(resourceVersion) < this.compacted) throw expired('too old resource version')
    return this.history
      .filter(({ version }) => version > Number(resourceVersion))
      .map(({ type, object }) => ({ type, item: Item.ofObject(structuredClone(object)) }))
  }

  /** Rejects like a server, later: never in the turn of the call. */
  async #maybeFail<R>(make: () => R): Promise<R> {
    await Promise.resolve()
    const failure = this.failures.shift()
    if (failure) throw failure
    return make()
  }

  #record(event: HistoryEvent): void {
    this.history.push(event)
    this.#send([{ type: event.type, item: Item.ofObject(structuredClone(event.object)) }])
  }

  #send(batch: readonly StreamEvent<Widget>[]): void {
    if (!this.isMute) for (const watch of this.watches) watch.push(batch)
  }
}

function arrivalOf(object: Widget): StreamEvent<Widget> {
  return { type: 'ADDED', item: Item.ofObject(structuredClone(object)) }
}
