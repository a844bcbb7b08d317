/**
 * GET of a collection with `watch`: the changes of its objects as a stream.
 *
 * A watch begins with the existing objects, or with the changes after a version. It ends when its time is over, the client
 * leaves, the server stops, the resource is redefined, or the client reads too slowly. It never makes a writer wait.
 */
import { badRequest, expired, notAcceptable, parseRequestedVersion, resourceVersionTooLarge, toStatus } from '#api'
import { onAbort, randomInt, type Clock, type Random } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { Entry, Watch, WatchBatch } from '#store'
import { mediaTypes, type MediaFormat, type WireResponse } from '#wire'
import type { FlowControl } from '../flowcontrol/flow-control.ts'
import { selectionFor, type ListSelection } from '../list/selection.ts'
import { LentMemory } from '../listen/lent-memory.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { headersOf, negotiateResponse } from '../response.ts'
import { prepareConversions } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { WatchEncoder } from '../watch/frames.ts'
import { withWebSocket } from '../watch/websocket-watch.ts'
import { readListOptions, type ListOptions } from './list-options.ts'
import type { ListHandler } from './list.ts'

const bookmarkMs = 60_000
/** The last bookmark comes this long before the end. */
const closingBookmarkMs = 2000
const timeoutMinSeconds = 1800

/** The media types of watches as errors name them. */
const watchTypes: Readonly<Record<Exclude<MediaFormat, 'yaml'>, string>> = {
  json: `${mediaTypes.json};stream=watch`,
  protobuf: `${mediaTypes.protobuf};stream=watch`,
  cbor: 'application/cbor-seq',
}

interface WatchServices {
  readonly storage: Storage
  readonly flowControl: FlowControl
  readonly lists: ListHandler
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the server stops: streams end cleanly then. */
  readonly stopping: AbortSignal
}

interface WatchContext {
  readonly context: RequestContext
  readonly target: ResourceRef
  readonly options: ListOptions
  readonly selection: ListSelection
  readonly framer: WatchEncoder
  /** Ends the counting of this watch. */
  readonly leave: () => void
}

interface WatchStart {
  readonly source: Watch
  /** A version that is not reached yet is waited for: changes up to it are not sent. */
  readonly above: number
  readonly existing?: readonly Entry[]
  /** The version of the bookmark after the existing objects. */
  readonly mark?: number
}

interface WatchTimers {
  readonly stop: () => void
  /** Whether no batch may follow: the resource was redefined or removed, and all changes before that were sent. */
  readonly isLast: (batch: Pick<WatchBatch, 'revision'>) => boolean
}

export class WatchHandler {
  readonly #storage: Storage
  readonly #flowControl: FlowControl
  readonly #lists: ListHandler
  readonly #clock: Clock
  readonly #random: Random
  readonly #stopping: AbortSignal

  constructor({ storage, flowControl, lists, clock, random, stopping }: WatchServices) {
    this.#storage = storage
    this.#flowControl = flowControl
    this.#lists = lists
    this.#clock = clock
    this.#random = random
    this.#stopping = stopping
  }

  /** When this resolves the watch has begun: it sends all later writes. */
  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource)
    if (choice.format === 'yaml')
      throw notAcceptable(context.formats.flatMap((format) => (format === 'yaml' ? [] : [watchTypes[format]])))
    const options = withName(readListOptions(context.query, { watch: true }), target.name)
    if (parseRequestedVersion(options.resourceVersion) === undefined)
      throw badRequest(`invalid resource version ${JSON.stringify(options.resourceVersion)}: it must be a whole number`)
    const selection = selectionFor(target, options, this.#storage)
    const { matches, key, keyEnd } = selection
    const framer = new WatchEncoder({
      resource,
      choice,
      query: context.query,
      matches,
      key,
      keyEnd,
      clock: this.#clock,
    })
    const leave = this.#countWatch(context)
    try {
      const headers = headersOf(context, choice.format, { stream: true })
      const body = await this.#begin({ context, target, options, selection, framer, leave })
      return withWebSocket({ status: 200, headers, body }, context.request, choice.format)
    } catch (error) {
      leave()
      throw error
    }
  }

  /** A watch counts until it has ended or its client is gone. */
  #countWatch(context: RequestContext): () => void {
    const uncount = this.#flowControl.startWatch(context)
    const stop = onAbort(context.request.signal, uncount)
    return () => {
      stop()
      uncount()
    }
  }

  /** Finds the revision to start from and begins to watch there. */
  async #begin(watching: WatchContext): Promise<AsyncIterable<Uint8Array>> {
    const {
      options: { resourceVersion, sendInitialEvents, allowWatchBookmarks: bookmarks },
      options,
      framer,
    } = watching
    const head = await this.#storage.store.head()
    if (sendInitialEvents && Number(resourceVersion) > head) {
      watching.leave()
      return single(framer.error(toStatus(resourceVersionTooLarge(resourceVersion, String(head)))))
    }
    const after = Number(resourceVersion) === 0 ? head : Number(resourceVersion)
    if (!(sendInitialEvents ?? (resourceVersion === '' || resourceVersion === '0'))) {
      return this.#frames(watching, { source: this.#listen(watching, Math.min(after, head)), above: after })
    }
    const page = await this.#lists.readPage(
      watching.target,
      { ...options, resourceVersion: '', resourceVersionMatch: '', limit: 0, sendInitialEvents: undefined },
      this.#lists.slicesFor(watching.context),
    )
    const from = Number(page.metadata.resourceVersion)
    return this.#frames(watching, {
      source: this.#listen(watching, from),
      above: from,
      existing: page.entries,
      ...(sendInitialEvents && bookmarks && { mark: from }),
    })
  }

  #listen({ context: { request }, selection }: WatchContext, after: number): Watch {
    return this.#storage.store.watch(selection.key ?? selection.prefix, { after, signal: request.signal })
  }

  /** The existing objects, then the changes. */
  async *#frames(
    watching: WatchContext,
    { source, above, existing = [], mark }: WatchStart,
  ): AsyncGenerator<Uint8Array, void> {
    const { context, target, options, framer } = watching
    const { stop, isLast } = this.#timers(source, watching)
    try {
      yield* initialFrames(existing, {
        framer,
        resource: target.resource,
        isLent: context.request.borrowsChunks === true,
        turn: () => this.#flowControl.turn(context),
        clock: this.#clock,
      })
      if (mark !== undefined) yield framer.bookmark(mark, { initial: true })
      for await (const batch of source) {
        const preparing = framer.prepare(batch)
        if (preparing) await preparing
        if (batch.changes.length > 0) yield* framer.batch(batch, { above })
        else if (options.allowWatchBookmarks && batch.revision >= above) yield framer.bookmark(batch.revision)
        if (isLast(batch)) break
      }
      if (source.end?.reason === 'compacted')
        yield framer.error(
          toStatus(expired(`too old resource version: ${options.resourceVersion} (${source.end.compacted})`)),
        )
    } catch (error) {
      if (context.request.signal.aborted || target.resource.retired?.aborted) return
      yield framer.error(toStatus(error))
    } finally {
      stop()
      source.close()
      watching.leave()
    }
  }

  /** Regular bookmarks, and the end: the time is over, the server stops, or the resource is redefined. */
  #timers(source: Watch, { options, target }: WatchContext): WatchTimers {
    const clock = this.#clock
    const { store } = this.#storage
    const timeoutMs = (options.timeoutSeconds || timeoutMinSeconds + randomInt(this.#random, timeoutMinSeconds)) * 1000
    const close = (): void => {
      source.close()
    }
    let last = Number.POSITIVE_INFINITY
    const retire = (): void => {
      store
        .head()
        .then((head) => {
          last = head
          source.requestProgress()
        })
        .catch(close)
    }
    const cancels = [
      clock.after(timeoutMs, close),
      onAbort(this.#stopping, close),
      onAbort(target.resource.retired, retire),
    ]
    if (options.allowWatchBookmarks) {
      if (timeoutMs > closingBookmarkMs)
        cancels.push(
          clock.after(timeoutMs - closingBookmarkMs, () => {
            source.requestProgress()
          }),
        )
      let cancel = (): void => {}
      const again = (): void => {
        cancel = clock.after(bookmarkMs, () => {
          source.requestProgress()
          again()
        })
      }
      again()
      cancels.push(() => {
        cancel()
      })
    }
    return {
      stop: () => {
        for (const cancel of cancels) cancel()
      },
      isLast: ({ revision }) => revision >= last,
    }
  }
}

// The deprecated watch of one object has its name in the path.
function withName(options: ListOptions, name: string): ListOptions {
  return name === ''
    ? options
    : { ...options, fields: [...options.fields, { field: 'metadata.name', operator: '=', value: name }] }
}

async function* single(frame: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(frame)
}

// The initial objects.

interface InitialFramesOptions {
  readonly framer: WatchEncoder
  readonly resource: Resource
  /** Whether the reader has finished with a piece when it requests the next. */
  readonly isLent: boolean
  /** Called before each piece: thousands of watches may begin at once. */
  readonly turn: () => Promise<void> | undefined
  readonly clock: Clock
}

const pieceBytes = 262_144
const pieceItems = 500

/** The objects that existed before a watch, as frames: in pieces, so that the server never holds all of them. */
async function* initialFrames(
  entries: readonly Entry[],
  { framer, resource, isLent, turn, clock }: InitialFramesOptions,
): AsyncGenerator<Uint8Array, void> {
  const memory = new LentMemory({ isLent })
  try {
    for (let at = 0; at < entries.length;) {
      const waiting = turn()
      if (waiting) await waiting
      const { end, bytes } = nextPiece(entries, at)
      const room = memory.waitForRoom(bytes, clock)
      const hasRoom = room === undefined || (await room)
      const items = entries.slice(at, end).map(({ value, revision }) => new StoredObject(value, revision))
      const preparing = prepareConversions(items, resource, { reuse: true })
      if (preparing) await preparing
      const piece = hasRoom ? framer.existing(items, memory) : undefined
      if (piece) yield piece
      if (!hasRoom) yield* framer.existingInParts(items)
      at = end
    }
    memory.release()
  } finally {
    memory.forget()
  }
}

/** The end of the next piece, with at least one object, and the bytes of its objects. */
function nextPiece(entries: readonly Entry[], start: number): { end: number; bytes: number } {
  let bytes = 0
  let at = start
  while (at < entries.length && at - start < pieceItems && bytes < pieceBytes) bytes += entries[at++]?.value.length ?? 0
  return { end: at, bytes }
}
